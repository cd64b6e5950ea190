# AIE control code
START_JOB 0
  WRITE_32 0x00040000, 1
END_JOB
EOF
#! uc 0 page 0 offset 2: 01
