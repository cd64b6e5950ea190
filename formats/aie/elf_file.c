/* SPDX-License-Identifier: Apache-2.0 */
/* Sections and segments to the bytes of an ELF file, by libelf. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/aie/elf_write.h"
#include "formats/aie/image_private.h"

static enum nocap_status elf_error(struct aie_elf_file *f)
{
    return nocap_fail(f->err, NOCAP_E_INTERNAL, "the ELF file cannot be made: %s", elf_errmsg(-1));
}

static enum nocap_status memory_file_error(struct aie_elf_file *f)
{
    return nocap_fail(f->err, NOCAP_E_MEMORY, "the ELF file cannot be kept in memory: %s",
                      strerror(errno));
}

static enum nocap_status put_header(struct aie_elf_file *f, Elf *elf, size_t table)
{
    Elf32_Ehdr *header = elf32_newehdr(elf);
    RETURN_IF_FAILED(header == NULL || elf32_newphdr(elf, aie_segment_count(f)) == NULL
                         ? elf_error(f)
                         : NOCAP_OK);
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    bool merged = f->output->layout == AIE_LAYOUT_MERGED, kernels = f->output->kernel_count != 0;
    uint8_t merged_abi = f->output->os_abi == 0 ? NOCAP_AIE_OSABI : f->output->os_abi;
    header->e_ident[EI_OSABI] = (unsigned char)(merged                ? merged_abi
                                                : f->later || kernels ? OSABI_N26
                                                                      : NOCAP_AIE_OSABI);
    header->e_ident[EI_ABIVERSION] = merged    ? ABI_MERGED
                                     : kernels ? ABI_KERNELS
                                               : NOCAP_AIE_ABI_VERSION;
    header->e_type = ET_EXEC;
    header->e_machine = NOCAP_AIE_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_phoff = sizeof(Elf32_Ehdr);
    header->e_shoff = (Elf32_Off)table;
    header->e_shstrndx = 1;
    return NOCAP_OK;
}

static void put_segments(const struct aie_elf_file *f, Elf *elf)
{
    Elf32_Phdr *segment = elf32_getphdr(elf);
    Elf32_Word size = (Elf32_Word)(aie_segment_count(f) * sizeof *segment);
    *segment++ = (Elf32_Phdr){.p_type = PT_PHDR,
                              .p_offset = sizeof(Elf32_Ehdr),
                              .p_filesz = size,
                              .p_memsz = size,
                              .p_flags = PF_R};
    for (size_t i = 1; i < f->count; i++) {
        const struct aie_part *part = &f->parts[i];
        if (part->loaded || part->dynamic) {
            *segment++ =
                (Elf32_Phdr){.p_type = part->loaded ? PT_LOAD : PT_DYNAMIC,
                             .p_offset = (Elf32_Off)part->offset,
                             .p_vaddr = part->address,
                             .p_filesz = (Elf32_Word)part->size,
                             .p_memsz = (Elf32_Word)part->size,
                             .p_flags = PF_R | ((part->flags & SHF_EXECINSTR) != 0 ? PF_X : PF_W),
                             .p_align = part->align};
        }
    }
}

static enum nocap_status put_section(struct aie_elf_file *f, Elf *elf, const struct aie_part *part)
{
    Elf_Scn *scn = elf_newscn(elf);
    Elf32_Shdr *header = scn == NULL ? NULL : elf32_getshdr(scn);
    Elf_Data *data = header == NULL ? NULL : elf_newdata(scn);
    RETURN_IF_FAILED(data == NULL ? elf_error(f) : NOCAP_OK);
    *header = (Elf32_Shdr){.sh_name = (Elf32_Word)part->name_at,
                           .sh_type = part->type,
                           .sh_flags = part->flags,
                           .sh_addr = part->address,
                           .sh_offset = (Elf32_Off)part->offset,
                           .sh_size = (Elf32_Word)part->size,
                           .sh_link = part->link,
                           .sh_info = part->info,
                           .sh_addralign = part->align,
                           .sh_entsize = part->entry_size};
    data->d_buf = (void *)(uintptr_t)part->bytes;
    data->d_size = part->size;
    data->d_align = part->align;
    data->d_type = ELF_T_BYTE;
    data->d_version = EV_CURRENT;
    return NOCAP_OK;
}

static enum nocap_status write_all(struct aie_elf_file *f, Elf *elf, size_t table, size_t whole)
{
    RETURN_ERROR_IF(whole > AIE_FILE_MAX, f->err, NOCAP_E_INPUT,
                    "the ELF file would have %zu bytes; expected at most %d, with all buffers",
                    whole, AIE_FILE_MAX);
    RETURN_IF_FAILED(put_header(f, elf, table));
    for (size_t i = 1; i < f->count; i++) {
        RETURN_IF_FAILED(put_section(f, elf, &f->parts[i]));
    }
    put_segments(f, elf);
    elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
    errno = 0;
    off_t size = elf_update(elf, ELF_C_WRITE);
    if (size < 0) {
        return errno != 0 ? memory_file_error(f) : elf_error(f);
    }
    return NOCAP_OK;
}

/* libelf writes groups into relocatable files only: their type is set behind its back. */
static enum nocap_status make_groups(struct aie_elf_file *f, int fd, size_t table)
{
    uint8_t type[sizeof(Elf32_Word)];
    nocap_aie_put_u32(type, SHT_GROUP);
    for (size_t i = 0; i < f->count; i++) {
        size_t at = table + i * sizeof(Elf32_Shdr) + offsetof(Elf32_Shdr, sh_type);
        RETURN_IF_FAILED(f->parts[i].group &&
                                 pwrite(fd, type, sizeof type, (off_t)at) != sizeof type
                             ? memory_file_error(f)
                             : NOCAP_OK);
    }
    return NOCAP_OK;
}

/* libelf writes to file descriptors only: to one that is memory. */
static enum nocap_status write_memory(struct aie_elf_file *f, int *fd, size_t *size)
{
    RETURN_ERROR_IF(elf_version(EV_CURRENT) == EV_NONE, f->err, NOCAP_E_INTERNAL,
                    "libelf does not know the ELF version of its own header");
    *fd = memfd_create("nocap-aie", MFD_CLOEXEC);
    RETURN_IF_FAILED(*fd < 0 ? memory_file_error(f) : NOCAP_OK);
    Elf *handle = elf_begin(*fd, ELF_C_WRITE, NULL);
    size_t table = aie_place_parts(f);
    *size = table + f->count * sizeof(Elf32_Shdr);
    enum nocap_status status = handle == NULL ? elf_error(f) : write_all(f, handle, table, *size);
    elf_end(handle);
    return status == NOCAP_OK ? make_groups(f, *fd, table) : status;
}

static enum nocap_status read_all(struct aie_elf_file *f, int fd, size_t from, uint8_t *bytes,
                                  size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = pread(fd, bytes + at, size - at, (off_t)(from + at));
        RETURN_IF_FAILED(n <= 0 ? memory_file_error(f) : NOCAP_OK);
        at += (size_t)n;
    }
    return NOCAP_OK;
}

static enum nocap_status read_back(struct aie_elf_file *f, int fd, size_t size, uint8_t **elf)
{
    *elf = malloc(size + 1);
    RETURN_IF_FAILED(*elf == NULL ? aie_file_memory(f) : NOCAP_OK);
    enum nocap_status status = read_all(f, fd, 0, *elf, size);
    if (status != NOCAP_OK) {
        free(*elf);
        *elf = NULL;
    }
    return status;
}

enum nocap_status aie_write_parts(struct aie_elf_file *f, uint8_t **elf, size_t *size)
{
    int fd = -1;
    enum nocap_status status = write_memory(f, &fd, size);
    if (status == NOCAP_OK) {
        status = read_back(f, fd, *size, elf);
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

enum nocap_status aie_compare_parts(struct aie_elf_file *f, const uint8_t *bytes, size_t size,
                                    bool *same)
{
    uint8_t block[1 << 16];
    size_t whole;
    int fd = -1;
    enum nocap_status status = write_memory(f, &fd, &whole);
    *same = status == NOCAP_OK && whole == size;
    for (size_t at = 0; at < size && *same; at += sizeof block) {
        size_t n = size - at < sizeof block ? size - at : sizeof block;
        status = read_all(f, fd, at, block, n);
        *same = status == NOCAP_OK && memcmp(block, bytes + at, n) == 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}
