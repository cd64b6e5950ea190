; one column: a part of its memory tile, all of it, and nothing
.target aie4
.partition 1column
START_JOB 0
  PREEMPT 0, @save, @restore, @part
  PREEMPT 1, @save, @restore
  PREEMPT 2, @save, @restore, @none
  PREEMPT 3, @save, @restore, @part
END_JOB
EOF
part:
  .long 0x00fffff0
  .long 0x00000000
none:
  .long 0
