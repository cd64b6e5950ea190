# AIE control code
START_JOB 0
  LOCAL_BARRIER $lb0, 2
END_JOB
START_JOB 1
  LOCAL_BARRIER $lb0, 2
END_JOB
EOF
#! uc 0 page 0 offset 26: 10
