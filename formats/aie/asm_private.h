/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: an assembly program on its way from text to pages. */
#ifndef NOCAP_AIE_ASM_PRIVATE_H
#define NOCAP_AIE_ASM_PRIVATE_H

#include "base/map.h"
#include "formats/aie/asm.h"

enum {
    AIE_OPERANDS_MAX = 6,
    AIE_KERNEL_NAME_MAX = 200,
    AIE_CUSTOM_NAME_MAX = 55,
    AIE_STATEMENTS_MAX = 16 << 20
};
#define AIE_NONE UINT32_MAX

/* The form of the file. */
enum aie_layout {
    AIE_LAYOUT_PAGES,  /* ELF, two sections a page */
    AIE_LAYOUT_MERGED, /* ELF, one section a column */
    AIE_LAYOUT_IMAGE,  /* the pages of one column and nothing else */
};

/* A word of the source. */
struct aie_word {
    const char *text;
    uint32_t length, column; /* column from 1 */
};

struct aie_place {
    uint32_t file, line; /* line from 1 */
};

enum aie_statement_kind { AIE_INSN, AIE_LABEL, AIE_LONG, AIE_BD, AIE_EOP, AIE_RAW };

struct aie_statement {
    enum aie_statement_kind kind;
    struct aie_place place;
    const struct nocap_aie_insn_info *info; /* of AIE_INSN */
    struct aie_word name;                   /* mnemonic, label, directive */
    struct aie_word operands[AIE_OPERANDS_MAX];
    uint32_t operand_count;
    uint32_t annotation;  /* that of .section annotation after it, from 1; 0: none */
    uint32_t uc;          /* of PREEMPT */
    struct aie_word rest; /* what stands after the name, to the end of the line */
    uint32_t
        page_offset; /* once it is in a page: less the header; AIE_RAW: index of the raw page */
};

struct aie_list {
    uint32_t *items;
    size_t count;
};

/* Numbers by key; several may have the same key. */
struct aie_map_value {
    uint32_t value;
    uint32_t next; /* of the same key: number + 1; 0: no more */
};
struct aie_map_row {
    uint64_t key;
    uint32_t first, last; /* as `next` */
};
struct aie_map {
    MAP(struct aie_map_row);
    struct aie_map_value *values;
    size_t value_count;
};
bool aie_map_add(struct aie_map *map, uint64_t key, uint32_t value); /* false: out of memory */
/* The first value of the key, and the next one of the same; NULL: no more. */
const struct aie_map_value *aie_map_find(const struct aie_map *map, uint64_t key);
const struct aie_map_value *aie_map_next(const struct aie_map *map,
                                         const struct aie_map_value *value);
void aie_map_free(struct aie_map *map);

/* What stands between ".name:" and ".endl name": its pages follow each other. */
struct aie_chain {
    char *path;                 /* "default:pdi" */
    struct aie_list text, data; /* statements */
    struct aie_map labels;      /* by file and name: places in `data` */
    uint32_t first_page;        /* AIE_NONE until there is one */
    uint32_t eof_line[2]; /* n26: of the last EOF in the text and in the data; AIE_NONE: none */
};

/* A relocation that the text gives as it is. */
struct aie_reloc {
    struct aie_place place;
    struct aie_word name;
    uint32_t offset, addend, type;
};
struct aie_relocs {
    struct aie_reloc *items;
    size_t count;
};

/* A buffer of .setpad. */
struct aie_pad {
    char *name;
    uint8_t *content; /* NULL: zeros */
    size_t capacity;  /* of `content` */
    uint32_t size, offset;
    struct aie_place place;
    struct aie_relocs relocs;
};

/* A page of .page: given byte for byte. */
struct aie_raw {
    const uint8_t *bytes; /* NOCAP_AIE_PAGE_SIZE */
    uint8_t *own;         /* the same, if the text gives them */
    uint32_t text_size;   /* what of it goes into the text section */
    struct aie_relocs relocs;
};

/* A section of .raw: neither pages nor buffers. */
struct aie_extra {
    uint32_t kernel, uc;    /* AIE_NONE: a custom section of the file; after every column */
    uint32_t argument;      /* of control packets; AIE_NONE: it is something else */
    bool patched;           /* it holds the places of buffers already */
    struct aie_pad section; /* its name without the number of a kernel */
};

struct aie_column {
    uint32_t kernel; /* of the program's, 0 if it names none */
    uint32_t uc;
    struct aie_chain *chains;
    size_t chain_count;
    struct aie_pad *pads;
    size_t pad_count;
};

/* What .section annotation says of the instruction before it. */
struct aie_annotation {
    struct aie_word id, name, description;
};

/* A kernel of a file with several, and which instance of it. */
struct aie_kernel {
    struct aie_word symbol, instance; /* "_Z3DPUPcPc", "first" */
};

struct aie_file {
    char *name;
    char *shown; /* as the text names it; NULL: the first one */
    char *text;
    size_t length;
};

/* Where control packets name a buffer. */
struct aie_packet_patch {
    char name[12];   /* number of the argument */
    uint32_t packet; /* n26: that of the control packets */
    uint32_t offset, addend, type;
};

struct aie_program {
    const struct nocap_aie_asm_options *options;
    struct nocap_error *err;
    enum nocap_aie_dialect dialect;
    enum nocap_aie_chip chip;     /* NOCAP_AIE_CHIP_UNKNOWN until .target is met */
    uint8_t os_abi;               /* of .target; 0: there was none */
    enum nocap_aie_dialect meant; /* as something tells that was met; the same if nothing does */
    struct aie_file *files;
    size_t file_count;
    struct aie_statement *statements;
    size_t statement_count;
    struct aie_kernel *kernels; /* none: one without a name */
    size_t kernel_count;
    struct aie_column *columns; /* by kernel and uc */
    size_t column_count;
    uint32_t kernel; /* that the text begins with */
    bool moved;      /* columns stand elsewhere than before */
    struct aie_extra *extras;
    size_t extra_count;
    bool plain; /* .dialect: the text has all that belongs into the file */
    struct aie_raw *raws;
    size_t raw_count;
    enum aie_layout layout;
    uint32_t partition_columns; /* .partition */
    struct aie_list preempts;   /* statements */
    char **words;               /* text that operands were given */
    size_t word_count;
    struct aie_annotation *annotations;
    size_t annotation_count;
    struct aie_packet_patch *patches;
    size_t patch_count;
    const struct aie_known *known; /* NULL: nothing is; see asm_known.h */
    uint32_t packet_argument;      /* the argument that holds control packets; AIE_NONE: none */
};

/* ---- the result: sections ---- */

struct aie_symbol {
    char name[64];
    uint32_t section;        /* of aie_output, from 0 */
    uint32_t offset, addend; /* of the relocation */
    uint32_t type;
};

struct aie_section {
    char name[56];
    uint32_t kernel;
    const uint8_t *bytes;
    uint8_t *own; /* the same; NULL: another owns them */
    size_t size;
    bool text;
    bool custom; /* of the file, of no kernel: nothing of nocap's reads it */
};

struct aie_output {
    const struct aie_program *of; /* the only one in it; NULL: several are */
    enum aie_layout layout;
    uint8_t os_abi;             /* of .target; 0: none */
    uint32_t partition_columns; /* 0: not said */
    const struct aie_kernel *kernels;
    size_t kernel_count;
    struct aie_section *sections;
    size_t section_count;
    struct aie_symbol *symbols; /* in the order of the relocations */
    size_t symbol_count;
};

/* "file:line:column: ...", and NOCAP_E_INPUT. `word` NULL: no column. */
enum nocap_status aie_source_error(const struct aie_program *program, struct aie_place place,
                                   const struct aie_word *word, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
enum nocap_status aie_no_memory(const struct aie_program *program);
#define RETURN_SOURCE_ERROR_IF(condition, program, place, word, ...)                               \
    do {                                                                                           \
        if (condition) {                                                                           \
            return aie_source_error((program), (place), (word), __VA_ARGS__);                      \
        }                                                                                          \
    } while (0)
#define RETURN_NO_MEMORY_IF(condition, program)                                                    \
    RETURN_IF_FAILED((condition) ? aie_no_memory(program) : NOCAP_OK)
/* A word for "%.*s". */
#define AIE_TEXT(word) (int)(word)->length, (word)->text

bool aie_word_is(const struct aie_word *word, const char *text);
/* Letter by letter; the other one ignores case. */
bool aie_words_same(const struct aie_word *a, const struct aie_word *b);
bool aie_words_equal(const struct aie_word *a, const struct aie_word *b);
/* "12" or "0x1f"; false if it is no number, or one beyond 64 bits. */
bool aie_word_number(const struct aie_word *word, uint64_t *number);

/* A text to be assembled. */
struct aie_asm_text {
    const char *text, *name; /* name: for messages */
    size_t length;
    bool files; /* it may name others */
};
enum nocap_status aie_read_text(struct aie_program *program, const struct aie_asm_text *source);
struct aie_program aie_begin_program(const struct nocap_aie_asm_options *options,
                                     enum nocap_aie_dialect dialect, struct nocap_error *err);
/* Adds what the text makes to the output. */
enum nocap_status aie_encode_program(struct aie_program *program, const struct aie_asm_text *source,
                                     struct aie_output *output);
/* The file of an output that has this program alone; free(*bytes). */
enum nocap_status aie_make_file(const struct aie_program *program, struct aie_output *output,
                                uint8_t **bytes, size_t *size);
/* A file with several kernels, of the JSON text `text` that names them. */
enum nocap_status aie_assemble_config(uint8_t **elf, size_t *size, const char *path,
                                      const char *text, const struct nocap_aie_asm_options *options,
                                      struct nocap_error *err);
/* Whether the argument of the kernel is a buffer of control packets, in n26. */
bool aie_has_packets(const struct aie_program *program, uint32_t kernel, uint32_t argument);
enum nocap_status aie_read_buffers(struct aie_program *program, const char *path);
void aie_program_free(struct aie_program *program);

struct aie_output;
/* Section .dump, the debug map, of one kernel: one line an instruction, in the order of pages.
 * Begins with the first column of the kernel. */
struct aie_debug_map {
    FILE *out; /* NULL: none is made */
    char *text;
    size_t size;
    uint32_t file, count; /* of the job; lines so far */
    bool unwanted;        /* the text has one of its own */
};
enum nocap_status aie_map_begin(const struct aie_program *program, struct aie_debug_map *map);
/* The line of an instruction at `at` of the column's image; `op` NULL: EOF, or filler. */
void aie_map_put(const struct aie_program *program, struct aie_debug_map *map,
                 const struct aie_statement *s, const char *other, uint32_t line, uint32_t size,
                 uint32_t uc, uint32_t page, uint32_t at);
/* Adds the section to the output, and ends the map. */
enum nocap_status aie_map_end(const struct aie_program *program, struct aie_debug_map *map,
                              uint32_t kernel, struct aie_output *output);

/* Bytes of a .bytes: hexadecimal digits, two a byte; false if the word is something else. */
bool aie_word_bytes(const struct aie_word *word, uint8_t *bytes);

/* NULL if there is none. */
struct aie_pad *aie_find_pad(const struct aie_column *column, const struct aie_word *name);
struct aie_chain *aie_find_chain(const struct aie_program *program, const struct aie_column *column,
                                 const struct aie_word *name);

/* A job of a chain, and a page of a column, as statements. */
struct aie_job {
    uint32_t first, last; /* places in the chain's text: START_JOB and END_JOB */
    uint32_t size;        /* bytes */
    uint32_t segment;     /* how many .eop stand before it */
    bool raw;             /* a whole page: `first` is its .page */
    uint32_t page;        /* AIE_NONE until it is in one */
};
struct aie_page {
    struct aie_chain *chain;
    struct aie_list text;          /* statements, without EOF */
    struct aie_list labels;        /* places in the chain's data, in the order of the page's data */
    struct aie_list branches;      /* PAGE operands: statement, operand, statement, .. */
    const struct aie_raw *raw;     /* NULL: a page of jobs */
    uint32_t text_size, data_size; /* bytes, without header and EOF */
    uint32_t length, next_length;  /* as the header has them */
};
struct aie_pages {
    struct aie_page *items;
    size_t count;
};

/* Puts the jobs of a chain into pages, after those that are there. */
enum nocap_status aie_page_chain(struct aie_program *program, struct aie_column *column,
                                 struct aie_chain *chain, struct aie_pages *pages);
void aie_pages_free(struct aie_pages *pages);
/* Makes the labels of a chain's data known. */
enum nocap_status aie_index_labels(const struct aie_program *program, struct aie_chain *chain);
/* Place in the chain's data of the label that `word` ("@name") in `statement` names, in the same
 * file. */
enum nocap_status aie_find_label(const struct aie_program *program, const struct aie_chain *chain,
                                 const struct aie_statement *statement, const struct aie_word *word,
                                 uint32_t *at);
/* How many statements belong to a label, itself included, and its bytes. */
uint32_t aie_label_extent(const struct aie_program *program, const struct aie_chain *chain,
                          uint32_t at, uint32_t *size);
/* Filler between EOF and data. */
uint32_t aie_filler(uint32_t text_size);

/* "$r3", "$g0", "$lb1", "$rb5" or a bare number, as it stands in the binary. */
enum nocap_status aie_parse_register(const struct aie_program *program,
                                     const struct aie_statement *statement,
                                     const struct aie_word *word, uint32_t *number);
enum nocap_status aie_parse_barrier(const struct aie_program *program,
                                    const struct aie_statement *statement,
                                    const struct aie_word *word, bool remote, uint32_t *number);
/* A number that fits into `bits`. */
enum nocap_status aie_parse_number(const struct aie_program *program,
                                   const struct aie_statement *statement,
                                   const struct aie_word *word, unsigned bits, uint32_t *number);

enum nocap_status aie_encode_column(struct aie_program *program, struct aie_column *column,
                                    struct aie_pages *pages, struct aie_debug_map *map,
                                    struct aie_output *output);
/* A section of zeros of a column, ".<kind>.<column>[.<page>][.<kernel>]"; `page` AIE_NONE: it has
 * no page in its name. NULL without memory. */
struct aie_section *aie_add_section(struct aie_output *output, const char *kind,
                                    const struct aie_column *column, uint32_t page, size_t size);
/* The same of a kernel: ".<kind>[.<kernel>]". */
struct aie_section *aie_add_kernel_section(struct aie_output *output, const char *kind,
                                           uint32_t kernel, size_t size);
enum nocap_status aie_add_symbol(const struct aie_program *program, struct aie_output *output,
                                 const struct aie_symbol *symbol);
/* Relocations of .reloc, into a section whose offsets count from `base`. */
enum nocap_status aie_add_relocs(const struct aie_program *program, struct aie_output *output,
                                 const struct aie_relocs *relocs, uint32_t section, uint32_t base);
/* Gives the buffers of a column their places in its section, which has `size` bytes then. */
enum nocap_status aie_place_pads(const struct aie_program *program, struct aie_column *column,
                                 uint32_t *size);
/* The sections of .raw after a column, or with its name after the last one of a kernel; *found:
 * there is one, maybe of no bytes, which is not written. */
enum nocap_status aie_encode_extras(struct aie_program *program, uint32_t kernel, uint32_t uc,
                                    const char *name, bool *found, struct aie_output *output);
/* A custom section of the file, of zeros; NULL without memory. They come before all others. */
struct aie_section *aie_add_custom_section(struct aie_output *output, const char *name,
                                           size_t size);
/* Those of .custom. */
enum nocap_status aie_encode_custom(const struct aie_program *program, struct aie_output *output);
/* Their section, and their relocations; `packets`: the one with control packets, NULL: none. */
enum nocap_status aie_encode_pads(const struct aie_program *program,
                                  const struct aie_column *column, const struct aie_pad *packets,
                                  uint32_t size, struct aie_output *output);
void aie_output_free(struct aie_output *output);

/* Writes the container, in the output's layout; free(*elf). */
enum nocap_status aie_write_elf(const struct aie_output *output, enum nocap_aie_dialect dialect,
                                uint8_t **elf, size_t *size, struct nocap_error *err);
/* Whether that has these bytes. */
enum nocap_status aie_elf_is(const struct aie_output *output, enum nocap_aie_dialect dialect,
                             const uint8_t *bytes, size_t size, bool *same,
                             struct nocap_error *err);

#endif
