; what the other programs leave out: registers, polls, code of cores
.partition 1column
.attach_to_group 0
START_JOB 1
  MOV $r0, 0x2000
  READ_32_D $r0, $r1
  WRITE_32_D 1, 0x2004, 1
  WRITE_32_D 3, 0x2008, 0xFFFFFFFF
  YIELD
  POLL_32 0x2004, 7
  MASK_POLL_32 0x2008, 0xFF00, 0x1200
  SAVE_TIMESTAMPS 12
END_JOB
START_JOB 2
  NOP
  UC_DMA_WRITE_DES_SYNC @list
END_JOB
START_JOB 3
  LOAD_CORES 5, @cores
END_JOB
.eop
START_JOB 1
  REMOTE_BARRIER $rb7, 0x1
END_JOB
EOF
.align 16
list:
  UC_DMA_BD 0, 0x1A0000, @words, 10, 0, 0
.align 4
words:
  .long 1
  .long 2
  .long 3
  .long 4
  .long 5
  .long 6
  .long 7
  .long 8
  .long 9
  .long 10
.section .ctrltext
cores:
.include more.asm
.endl cores
