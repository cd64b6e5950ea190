/* SPDX-License-Identifier: Apache-2.0 */
/* Sections and segments to the bytes of an ELF file, by libelf. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/aie/elf_write.h"
#include "formats/aie/image_private.h"

static enum nocap_status elf_error(struct aie_elf_file *f)
{
    return nocap_fail(f->err, NOCAP_E_INTERNAL, "the ELF file cannot be made: %s", elf_errmsg(-1));
}

static enum nocap_status put_header(struct aie_elf_file *f, Elf *elf, size_t table)
{
    Elf32_Ehdr *header = elf32_newehdr(elf);
    if (header == NULL || elf32_newphdr(elf, aie_segment_count(f)) == NULL) {
        return elf_error(f);
    }
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
    if (data == NULL) {
        return elf_error(f);
    }
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

static enum nocap_status write_all(struct aie_elf_file *f, Elf *elf)
{
    size_t table = aie_place_parts(f);
    size_t whole = table + f->count * sizeof(Elf32_Shdr);
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
    RETURN_ERROR_IF(size < 0 && errno != 0, f->err, NOCAP_E_MEMORY,
                    "the ELF file cannot be kept in memory: %s", strerror(errno));
    return size < 0 ? elf_error(f) : NOCAP_OK;
}

static enum nocap_status read_back(struct aie_elf_file *f, int fd, uint8_t **elf, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (*elf = malloc((size_t)st.st_size + 1)) == NULL) {
        return aie_file_memory(f);
    }
    for (*size = 0; *size < (size_t)st.st_size;) {
        ssize_t n = pread(fd, *elf + *size, (size_t)st.st_size - *size, (off_t)*size);
        if (n <= 0) {
            free(*elf);
            *elf = NULL;
            return nocap_fail(f->err, NOCAP_E_MEMORY, "the ELF file cannot be read back: %s",
                              strerror(errno));
        }
        *size += (size_t)n;
    }
    return NOCAP_OK;
}

/* libelf writes groups into relocatable files only: their type is set behind its back. */
static void make_groups(const struct aie_elf_file *f, uint8_t *elf)
{
    for (size_t i = 0; i < f->count; i++) {
        size_t header = nocap_aie_u32(elf + offsetof(Elf32_Ehdr, e_shoff)) + i * sizeof(Elf32_Shdr);
        if (!f->parts[i].group) {
            continue;
        }
        nocap_aie_put_u32(elf + header + offsetof(Elf32_Shdr, sh_type), SHT_GROUP);
    }
}

/* libelf writes to file descriptors only: to one that is memory. */
enum nocap_status aie_write_parts(struct aie_elf_file *f, uint8_t **elf, size_t *size)
{
    RETURN_ERROR_IF(elf_version(EV_CURRENT) == EV_NONE, f->err, NOCAP_E_INTERNAL,
                    "libelf does not know the ELF version of its own header");
    int fd = memfd_create("nocap-aie", MFD_CLOEXEC);
    RETURN_ERROR_IF(fd < 0, f->err, NOCAP_E_MEMORY, "no memory file for the ELF file: %s",
                    strerror(errno));
    Elf *handle = elf_begin(fd, ELF_C_WRITE, NULL);
    enum nocap_status status = handle == NULL ? elf_error(f) : write_all(f, handle);
    elf_end(handle);
    if (status == NOCAP_OK) {
        status = read_back(f, fd, elf, size);
    }
    if (status == NOCAP_OK) {
        make_groups(f, *elf);
    }
    close(fd);
    return status;
}
