; three uCs that stop at the same points, each with its own column
.target aie4
.partition 3column
.attach_to_group 0
START_JOB 0
  PREEMPT 0, @save, @restore, @hint
  PREEMPT 1, @save, @restore
END_JOB
EOF
hint:
  .long 0xff
.attach_to_group 2
START_JOB 0
  PREEMPT 0, @save, @restore, @hint
  PREEMPT 1, @save, @restore
END_JOB
EOF
hint:
  .long 0xffff00
.attach_to_group 4
START_JOB 0
  PREEMPT 0, @save, @restore, @hint
  PREEMPT 1, @save, @restore
END_JOB
EOF
hint:
  .long 0
