# AIE control code
#! rules AIE-042
START_JOB 0
  LOCAL_BARRIER $lb0, 2
END_JOB
.eop
START_JOB 1
  LOCAL_BARRIER $lb0, 2
END_JOB
EOF
#! findings 2
