# AIE control code
START_JOB 0
  MOV $r3, 1
END_JOB
EOF
#! uc 0 page 0 offset 26: 18
