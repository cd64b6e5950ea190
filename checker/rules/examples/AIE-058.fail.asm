# AIE control code
#! dialect n26
START_JOB 0
  LOCAL_BARRIER $lb0, 1
END_JOB
START_JOB 1
  PREEMPT 0, @save, @restore
END_JOB
START_JOB 2
  LOCAL_BARRIER $lb1, 1
END_JOB
.eop
START_JOB 9
  LOAD_PDI 7, @code
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
restore:
START_JOB 0
  LOAD_LAST_PDI
END_JOB
EOF
.endl restore
.section .ctrltext
save:
START_JOB 0
  WRITE_32 0x00040004, 2
END_JOB
EOF
.endl save
#! uc 0 page 0 offset 27: 02
#! uc 0 page 0 offset 62: 00
#! uc 0 page 0 offset 63: 02
