# AIE control code
START_JOB 0
  UC_DMA_WRITE_DES $r1, @chain
  WAIT_UC_DMA $r1
END_JOB
EOF
chain:
  UC_DMA_BD 0, 0x001A0000, @words, 2, 0, 0
words:
  .long 1
  .long 2
