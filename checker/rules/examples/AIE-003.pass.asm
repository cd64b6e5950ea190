# AIE control code
#! dialect f25
START_JOB 0
  LOAD_PDI 0, @code
END_JOB
.eop
code:
START_JOB 0
  WRITE_32 0x00040000, 1
END_JOB
.endl code
