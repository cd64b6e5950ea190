# AIE control code
START_JOB 0
  MOV $r23, 1
END_JOB
EOF
