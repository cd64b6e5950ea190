# AIE control code
START_JOB 0
  LOAD_PDI 0, @code
END_JOB
EOF
.section .ctrltext
code:
START_JOB 0
  WRITE_32 0x00040000, 1
END_JOB
EOF
.endl code
#! uc 0 page 0 offset 4: 30
