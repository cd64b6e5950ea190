; three uCs that stop at the same point, with nothing to save
.target aie4
.partition 3column
.attach_to_group 0
START_JOB 0
  WAIT_TCTS TILE_0_0, SHIM_MM2S_3, 1
  WAIT_TCTS TILE_0_1, MEM_MM2S_5, 2
  WAIT_TCTS TILE_0_0, SHIM_CTRL_MM2S_1, 1
END_JOB
START_JOB 1
  PREEMPT 0, @save, @restore, @hint
END_JOB
EOF
hint:
  .long 0
.attach_to_group 2
START_JOB 0
  WAIT_TCTS TILE_1_2, TILE_S2MM_1, 1
END_JOB
START_JOB 1
  PREEMPT 0, @save, @restore, @hint
END_JOB
EOF
hint:
  .long 0
.attach_to_group 4
START_JOB 1
  PREEMPT	0, @save, @restore, @hint
END_JOB
EOF
hint:
  .long 0
