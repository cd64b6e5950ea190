; a table whose address is that of control packets
START_JOB 0
  APPLY_OFFSET_57 @t, 1, 3
  UC_DMA_WRITE_DES_SYNC @c
END_JOB
EOF
c:
  UC_DMA_BD 0, 0x9000, @t, 9, 0, 0
t:
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
