# AIE control code
START_JOB 0
  UC_DMA_WRITE_DES_SYNC @chain
END_JOB
EOF
chain:
  UC_DMA_BD 0, 0x001A0000, @words, 1, 0, 0
words:
  .long 1
