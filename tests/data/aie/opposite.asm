; two columns that meet at their barriers in opposite orders, and wait forever
.attach_to_group 0
START_JOB 1
  REMOTE_BARRIER $rb0, 3
  REMOTE_BARRIER $rb1, 3
END_JOB
EOF
.attach_to_group 1
START_JOB 1
  REMOTE_BARRIER $rb1, 3
  REMOTE_BARRIER $rb0, 3
END_JOB
EOF
