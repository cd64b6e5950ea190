; two jobs that meet, one that is launched, data that two jobs share
.partition 1column
.attach_to_group 0
START_JOB 1
  UC_DMA_WRITE_DES $r1, @chain
  LOCAL_BARRIER $lb3, 2
  LAUNCH_JOB 7
  WAIT_UC_DMA $r1
END_JOB
START_JOB 2
  MASK_WRITE_32 0x41A0634, 0xFFFFFFFF, 0x5
  LOCAL_BARRIER $lb3, 2
  ADD $g2, 4294967295
END_JOB
START_JOB_DEFERRED 7
  UC_DMA_WRITE_DES_SYNC @chain
  REMOTE_BARRIER $rb0, 0x1
END_JOB
.eop
START_JOB 1
  READ_32 $r2, 0x2000
  REL_ACQ_SYNC 0x100, 0x104
END_JOB
START_COND_JOB_PREEMPT 3
  LOAD_CORES_CP 2
  SAVE_REGISTER 0x40, 9
END_JOB
EOF
.align 16
chain:
  UC_DMA_BD 0, 0x1A0000, @words, 2, 0, 1
  UC_DMA_BD 0x12, 0x1A0010, @words, 2, 1, 0
.align 4
words:
  .long 0x11
  .long 18
