; tables of several entries, a buffer, other code, annotations
.attach_to_group 0
.setpad scratch, 0x20
.setpad more, 3
START_JOB 0
  APPLY_OFFSET_57 @table, 2, 3
  APPLY_OFFSET_57 @own, 1, 65535, @more
.section annotation
id: 4
name: begin "here"
description: the first table
  UC_DMA_WRITE_DES_SYNC @c
  APPLY_OFFSET_57 @late, 1, 0x4
END_JOB
START_JOB 1
  LOAD_PDI 1, @pdi
END_JOB
START_JOB 2
  WRITE_32 some-value, 7
END_JOB
.eop
EOF
c:
  UC_DMA_BD 0, 0x9000, @table, 9, 0, 1
  UC_DMA_BD 0, 0x9030, @own, 9, 0, 0
table:
  .long 1
  .long 2
  .long 3
  .long 4
  .long 5
  .long 6
  .long 7
  .long 8
  .long 9
second:
  .long 11
  .long 12
  .long 13
  .long 14
  .long 15
  .long 16
  .long 17
  .long 18
  .long 19
own:
  .long 0x01000000
  .long 0xFFFFFFF0
  .long 0x20000
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0x400
late:
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
  .long 0
.section .ctrltext
pdi:
.include more.asm
.endl pdi
