# AIE control code
START_JOB 0
  NOP
END_JOB
EOF
#! uc 0 page 0 offset 25: 01
