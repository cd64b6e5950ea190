# AIE control code
START_JOB 0
END_JOB
EOF
