# AIE control code
START_JOB 0
  ADD $r1, 4
END_JOB
EOF
