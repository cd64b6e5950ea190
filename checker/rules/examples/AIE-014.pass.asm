# AIE control code
START_JOB 0
  NOP
END_JOB
EOF
