# AIE control code
START_JOB 0
  LOAD_PDI 1, @code
END_JOB
.eop
START_JOB 1
  LOAD_PDI 2, @other
END_JOB
EOF
.section .ctrltext
code:
START_JOB 0
  WRITE_32 0x00040000, 1
END_JOB
EOF
.endl code
.section .ctrltext
other:
START_JOB 0
  WRITE_32 0x00040004, 2
END_JOB
EOF
.endl other
