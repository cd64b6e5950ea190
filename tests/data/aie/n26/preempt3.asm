; three columns: all, and the last two alone
.target aie4
.partition 3column
START_JOB 0
  PREEMPT 0, @save, @restore
  PREEMPT 1, @save, @restore, @behind
END_JOB
EOF
behind:
  .long 0
  .long 0xffff0000
  .long 0xffffffff
  .long 0xffffffff
  .long 0x0000ffff
