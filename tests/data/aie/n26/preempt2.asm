; two columns: the end of one memory tile and the begin of the other
.target aie4
.partition 2column
START_JOB 0
  PREEMPT 0, @save, @restore, @across
END_JOB
EOF
across:
  .long 0x00000000
  .long 0x07fffe00
  .long 0x00000000
