; pages of one uC in one section
.target aie2ps
.partition 2column
START_JOB 0
  WRITE_32 outside, 1
END_JOB
.eop
START_JOB 0
  WRITE_32 0x1A0634, other
END_JOB
EOF
