# AIE control code
START_JOB 0
  UC_DMA_WRITE_DES_SYNC @chain
  APPLY_OFFSET_57 @table, 1, 3
END_JOB
EOF
chain:
  UC_DMA_BD 0, 0x0001D000, @table, 8, 0, 0
table:
  .long 0x10
  .long 0x0
  .long 0x0
  .long 0x0
  .long 0x0
  .long 0x0
  .long 0x0
  .long 0x2000000
  .long 0x0
