#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap lint: kernels in C, built for the baby cores, and what is found where in them.
. tests/cli/lib.sh
cc=riscv64-unknown-elf-gcc
if ! command -v $cc >/dev/null; then
    skip "lint of compiled kernels" "$cc is not installed"
    finish
fi

# build NAME <SOURCE: a kernel at 0x6e00. TT pushes a word as part of the code, FIFO by a store.
build() {
    {
        cat <<'END'
#define TT(word) __asm__ volatile(".word %0" ::"i"(((word) << 2 | (word) >> 30) & 0xffffffffu))
#define FIFO(word) (*(volatile unsigned *)0xffe40000 = (word))
#define STALLWAIT(block, wait) TT(0xa2000000u | (block) << 15 | (wait))
#define SEMWAIT(block, mask, condition) TT(0xa6000000u | (block) << 15 | (mask) << 2 | (condition))
#define SEMPOST(mask) TT(0xa4000000u | (mask) << 2)
#define SEMGET(mask) TT(0xa5000000u | (mask) << 2)
#define SETDMAREG 0x45000038u /* GPR 28 */
#define WRCFG 0xb01c000cu     /* of GPR 28 */
#define MVMUL 0x26000000u
#define PACR 0x41000001u
#define UNPACR 0x42008001u
#define NOINLINE __attribute__((noinline))
END
        cat
    } >"$T/$1.c"
    $cc -O2 -march=rv32i -mabi=ilp32 -ffreestanding -nostdlib -Wl,-Ttext=0x6e00 -Wl,-e,kernel \
        "$T/$1.c" -o "$T/$1.elf" 2>"$T/cc" || sed 's/^/# /' "$T/cc"
}
address() { riscv64-unknown-elf-nm "$T/$1.elf" | awk -v name="$2" '$3 == name { print "0x" $1 }'; }

# A matrix multiplication's three threads, as far as the coprocessor sees them.
build right_trisc0 <<'END'
NOINLINE void unpack_tile(unsigned address)
{
    *(volatile unsigned *)(0xffef0000 + 4 * 76) = address;
    STALLWAIT(8u, 1024u);
    TT(UNPACR);
}
void kernel(void) { for (unsigned i = 0; i < 4; i++) unpack_tile(i << 4); }
END
build right_trisc1 <<'END'
NOINLINE void math_tile(void)
{
    SEMWAIT(0x142u, 2u, 2u);
    TT(MVMUL);
    STALLWAIT(2u, 0x810u);
    SEMPOST(2u);
}
void kernel(void) { for (int i = 0; i < 4; i++) math_tile(); }
END
build right_trisc2 <<'END'
NOINLINE void configure(void)
{
    FIFO(SETDMAREG);
    STALLWAIT(128u, 1u);
    TT(WRCFG);
}
NOINLINE void pack_tile(void)
{
    SEMWAIT(1u, 2u, 1u);
    TT(PACR);
    STALLWAIT(2u, 8u);
    SEMGET(2u);
}
void kernel(void) { configure(); for (int i = 0; i < 4; i++) pack_tile(); }
END
for n in 0 1 2; do
    status 0 "a correct kernel of thread $n" "$NOCAP" lint "$T/right_trisc$n.elf"
    out_has "has nothing to find" "verdict: clean"
done
out_has "the thread is in the name, the words are counted" "thread 2, 7 words"

build early_trisc1 <<'END'
NOINLINE void math_tile(void)
{
    SEMWAIT(0x142u, 2u, 2u);
    TT(MVMUL);
    SEMPOST(2u);
}
void kernel(void) { for (int i = 0; i < 4; i++) math_tile(); }
END
status 1 "a post before math is done" "$NOCAP" lint "$T/early_trisc1.elf"
out_has "is found by its rule" "warning TNX-032: "
out_has "where it is" "at $(printf 0x%x $(($(address early_trisc1 math_tile) + 8))) (math_tile+0x8)"

build config_trisc2 <<'END'
NOINLINE void configure(void)
{
    FIFO(SETDMAREG);
    TT(WRCFG);
}
void kernel(void) { configure(); }
END
status 1 "a register written before its value is there" "$NOCAP" lint "$T/config_trisc2.elf"
out_has "is found in its function" "(configure+0x"
out_has "by its rule" "warning TNX-030: "
status 0 "unless only errors matter" "$NOCAP" lint "$T/config_trisc2.elf" --fail-on error
status 1 "as JSON" "$NOCAP" lint "$T/config_trisc2.elf" --format json
out_has "symbol and rule" '"rule":"TNX-030","severity":"warning"'
out_has "with the symbol" '"symbol":"configure"'

build nothing_trisc1 <<'END'
void kernel(void) { SEMWAIT(1u, 2u, 0u); }
END
status 1 "a word that is wrong by itself" "$NOCAP" lint "$T/nothing_trisc1.elf"
out_has "is an error" "error TNX-011: "
out_has "at its place" "at $(address nothing_trisc1 kernel | sed 's/0x0*/0x/') (kernel+0x0)"

# A wait inside a function that is called: what a call does is not known.
build called_trisc1 <<'END'
NOINLINE void wait(void) { STALLWAIT(2u, 0x810u); }
void kernel(void)
{
    SEMWAIT(0x142u, 2u, 2u);
    TT(MVMUL);
    wait();
    SEMPOST(2u);
}
END
status 0 "a wait in a function of its own" "$NOCAP" lint "$T/called_trisc1.elf"

cp "$T/config_trisc2.elf" "$T/kernel.elf"
status 2 "a name without a thread" "$NOCAP" lint "$T/kernel.elf"
err_has "asks for it" "--thread 0|1|2"
status 1 "the thread as an option" "$NOCAP" lint "$T/kernel.elf" --thread 2
head -c 200 "$T/kernel.elf" >"$T/part.elf"
echo 'no ELF' >"$T/text.elf"
status 3 "a name without a thread, and no file" "$NOCAP" lint "$T/nowhere.elf"
err_has "is told first" "cannot open $T/nowhere.elf"
status 3 "a directory" "$NOCAP" lint "$T"
status 3 "a part of a file without a thread" "$NOCAP" lint "$T/part.elf"
status 3 "text without a thread" "$NOCAP" lint "$T/text.elf"
"$NOCAP" lint "$T/kernel.elf" --thread 2 | tail -n +2 >"$T/plain"
status 1 "standard input" "$NOCAP" lint - --thread 2 < <(cat "$T/kernel.elf")
check "has the same findings" cmp "$T/plain" <(tail -n +2 "$T/out")
status 3 "text on standard input" "$NOCAP" lint - --thread 2 <"$T/text.elf"
err_has "is named" "standard input"
status 2 "there are three threads" "$NOCAP" lint "$T/kernel.elf" --thread 3
echo 'no ELF' >"$T/text_trisc0.elf"
status 3 "a file that is no ELF" "$NOCAP" lint "$T/text_trisc0.elf"
err_has "is named" "text_trisc0.elf"
status 3 "a file that is not there" "$NOCAP" lint "$T/none_trisc0.elf"
finish
