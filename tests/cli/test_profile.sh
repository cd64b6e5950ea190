#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap profile: the shipped ones, files, and profiles from the debug information of ELF files.
# NOCAP_FIRMWARE_DIR names blackhole-py's riscv-firmware/p100a, where it is.
. tests/cli/lib.sh

status 0 "profile list" "$NOCAP" profile list
out_has "the default" "blackhole-py, the default"
out_has "the newest" "tt-metal-2026-09"
status 0 "profile show" "$NOCAP" profile show tt-metal-2026-06
cp "$T/out" "$T/june.json"
status 0 "a shown profile is a profile" "$NOCAP" profile diff tt-metal-2026-06 "$T/june.json"
status 1 "profile diff" "$NOCAP" profile diff tt-metal-2025-12 tt-metal-2026-03
out_has "what differs" "tt-metal-2026-03   id 18, 16 bytes: type 1:1, count 2:2"
status 3 "no such profile" "$NOCAP" profile show tt-metal-1999-01
err_has "which there are" "there are blackhole-py, tt-metal-2025-06"
status 2 "no such action" "$NOCAP" profile print blackhole-py
status 2 "diff of one" "$NOCAP" profile diff blackhole-py
echo '{"queue":{"entry_bytes":3}}' >"$T/bad.json"
status 3 "a file that makes no sense" "$NOCAP" profile show "$T/bad.json"
err_has "where and why" "bad.json: the profile's queue.entry_bytes is neither 2 nor 4"

# The same trace as runtimes with other mailboxes would have made it: the header says nothing.
"$NOCAP" capture --sim launch-dev --tiles 2 --launches 3 -o "$T/d.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/d.nocap" >"$T/d.jsonl"
"$NOCAP" capture --sim launch-host --tiles 2 --launches 3 --fault go-while-busy -o "$T/f.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/f.nocap" >"$T/f.jsonl"
status 0 "coverage by a profile" "$NOCAP" coverage --profile tt-metal-2026-09 "$T/d.nocap"
status 3 "coverage by none" "$NOCAP" coverage --profile tt-metal-1999-01 "$T/d.nocap"
held() { sed -n 's/^\(RST\|SYN\|GO\) *\([0-9]*\) .*/\1 \2/p' "$T/out"; }
faults() { "$NOCAP" check --format json "$1" | grep -o '"rule":"[A-Z]*-[0-9]*","severity":"error"'; }
if command -v python3 >/dev/null; then
    status 0 "in its own layout" "$NOCAP" check -v "$T/d.jsonl"
    held >"$T/held"
    check "three families" test "$(wc -l <"$T/held")" -eq 3
    for p in blackhole-py tt-metal-2026-03 tt-metal-2026-06 tt-metal-2026-09; do
        "$NOCAP" profile show "$p" >"$T/p.json"
        tests/reencode "$T/p.json" <"$T/d.jsonl" >"$T/x.jsonl"
        status 0 "right as in $p" "$NOCAP" check -v "$T/x.jsonl"
        held >"$T/held.x"
        status 0 "through a pipe, too" sh -c "cat '$T/x.jsonl' | '$NOCAP' check -"
        status 0 "and as a trace" sh -c "'$NOCAP' import jsonl '$T/x.jsonl' -o - | '$NOCAP' check -"
        check "and as much of it holds" cmp -s "$T/held" "$T/held.x"
        status 0 "no hang as in $p" "$NOCAP" hang "$T/x.jsonl"
        tests/reencode "$T/p.json" <"$T/f.jsonl" >"$T/x.jsonl"
        check "its fault as in $p" test "$(faults "$T/f.jsonl")" = "$(faults "$T/x.jsonl")"
    done
    check "that is a fault" test -n "$(faults "$T/f.jsonl")"
    "$NOCAP" profile show tt-metal-2026-09 >"$T/p.json"
    tests/reencode "$T/p.json" <"$T/d.jsonl" >"$T/x.jsonl"
    status 0 "what info tells" "$NOCAP" info "$T/x.jsonl"
    out_has "is why" "mailbox bh-launch160: go messages are written to 0x570"
    status 0 "names by a profile" "$NOCAP" dump --profile tt-metal-2026-09 "$T/x.jsonl"
    out_has "of its go words" "go_messages[0] 0x570:4"
    # Where the header says another profile, the option stands in its place in every command.
    tests/reencode "$T/p.json" <"$T/f.jsonl" | sed '1s/{/{"profile":"blackhole-py",/' >"$T/w.jsonl"
    p=tt-metal-2026-09
    status 0 "launches without it" "$NOCAP" launches --format csv "$T/w.jsonl"
    check "are not those" test "$(grep -c ',host,' "$T/out")" -eq 0
    status 0 "launches by it" "$NOCAP" launches --profile $p --format csv "$T/w.jsonl"
    check "are all" test "$(grep -c ',host,' "$T/out")" -eq 6
    status 0 "sql by it" "$NOCAP" sql --profile $p --format csv "$T/w.jsonl" "select rule, (select count(*) from waits where root) from findings where severity = 'error'"
    check "has the finding, and no wait" test "$(sed 1d "$T/out")" = GO-003,0
    status 0 "metrics by it" "$NOCAP" metrics --profile $p --min launches=6 --max errors=1 "$T/w.jsonl"
    status 1 "metrics without it" "$NOCAP" metrics --min launches=6 --max errors=1 "$T/w.jsonl"
    status 2 "diff without it" "$NOCAP" diff "$T/w.jsonl" --a launch=2 --b launch=3
    err_has "knows no such launch" "shows no launch 2 that began with GO"
    status 1 "diff by it" "$NOCAP" diff --profile $p "$T/w.jsonl" --a launch=2 --b launch=3
    status 0 "cut by it" "$NOCAP" cut --profile $p "$T/w.jsonl" --from 20000 -o "$T/c.nocap"
    status 1 "the part says it itself" "$NOCAP" check --format json "$T/c.nocap"
    check "and has the finding" test "$(jq -r '.findings[] | select(.severity == "error").rule' "$T/out")" = GO-003
    status 2 "minimise without it" "$NOCAP" minimise "$T/w.jsonl" --rule GO-003 -o "$T/m.nocap"
    status 0 "minimise by it" "$NOCAP" minimise --profile $p "$T/w.jsonl" --rule GO-003 -o "$T/m.nocap"
    status 1 "what is left says it itself" "$NOCAP" check "$T/m.nocap"
    out_has "and has the finding" "error GO-003"
    status 0 "golden record by it" "$NOCAP" golden record --profile $p "$T/gold" go "$T/w.jsonl" --reason 'GO while busy'
    check "in the manifest" grep -qx 'violated GO-003' "$T/gold/manifest.txt"
    status 0 "golden verify of what says it itself" "$NOCAP" golden verify "$T/gold"
    mkdir "$T/made"
    "$NOCAP" import jsonl "$T/w.jsonl" -o "$T/made/go.nocap" 2>/dev/null
    status 1 "of a trace made elsewhere, without it" "$NOCAP" golden verify --against "$T/made" "$T/gold"
    status 0 "and by it" "$NOCAP" golden verify --profile $p --against "$T/made" "$T/gold"
    for command in "cut --from 1 -o $T/c.nocap" "minimise --rule GO-003 -o $T/m.nocap" "diff $T/w.jsonl" launches metrics "sql --format csv"; do
        # shellcheck disable=SC2086 # words are meant
        status 3 "${command%% *} by a profile that is none" "$NOCAP" $command --profile tt-metal-1999-01 "$T/w.jsonl" </dev/null
    done
    # Sync word, read pointer, launch ring and go words elsewhere than in any layout that ships.
    "$NOCAP" profile show blackhole-py | sed 's/"sync": "0x68"/"sync": "0x70"/; s/"rd_ptr": "0x6c"/"rd_ptr": "0x74"/
        s/"launch_base": "0x70"/"launch_base": "0x90"/; s/"go_messages": "0x370"/"go_messages": "0x3b0"/
        s/"go_message_index": "0x3a0"/"go_message_index": "0x3e0"/' >"$T/moved.json"
    found() { "$NOCAP" check --format json "$@" | grep -o '"rule":"[^"]*","severity":"[a-z]*","index":[0-9]*'; }
    for fault in "" $(share 2 load-over-busy done-inside-kernel done-early init-sync-early rd-ptr-plus-2); do
        "$NOCAP" capture --sim launch-dev --tiles 2 ${fault:+--fault $fault} -o "$T/h.nocap" 2>/dev/null
        "$NOCAP" dump --format jsonl "$T/h.nocap" >"$T/h.jsonl"
        tests/reencode "$T/moved.json" <"$T/h.jsonl" >"$T/x.jsonl"
        found "$T/h.jsonl" >"$T/here"
        found --profile "$T/moved.json" "$T/x.jsonl" >"$T/there"
        check "${fault:-right} where mailbox words moved" cmp "$T/here" "$T/there"
        check "is a fault or none" test -z "$fault" -o -s "$T/there"
    done
    status 0 "by no profile" "$NOCAP" check "$T/x.jsonl"
    out_has "it is told" "note TRC-010"
    out_has "and nothing else" "0 errors, 0 warnings, 1 note"
    tests/reencode "$T/p.json" --go-offset 0x20 <"$T/d.jsonl" >"$T/x.jsonl"
    status 0 "an alien mailbox accuses nobody" "$NOCAP" check -v "$T/x.jsonl"
    out_has "and is told" "note TRC-010"
    out_has "what was seen" "go messages at 0x590, and launch messages of 160 bytes"
    out_has "why rules are silent" "no profile explains what was seen: RST-001"
    out_has "nothing else" "0 errors, 0 warnings, 1 note"
    status 1 "hang of it" "$NOCAP" hang "$T/x.jsonl"
    out_has "says nothing" "INCONCLUSIVE: no profile explains its mailbox"
    sed -i '1s/{/{"profile":{"name":"mine","mailbox":{"launch_size":160,"core_types":4,"go_messages":"0x590","timestamp":"0x5b8","go_message_index":"0x5a0"}},/' "$T/x.jsonl"
    status 0 "a profile in the header" "$NOCAP" info "$T/x.jsonl"
    out_has "has its name" "profile    mine"
else
    skip "traces of other mailboxes" "python3 is not installed"
fi
status 3 "a profile that is none" "$NOCAP" check --profile nosuch "$T/d.nocap"
status 3 "a file that is none" "$NOCAP" hang --profile "$T/d.nocap" "$T/d.nocap"
echo hello >"$T/notes"
status 3 "a file that is none, by a name like a profile's" bash -c "cd '$T' && '$NOCAP' check --profile notes d.nocap"
err_has "is told as a file" "notes: the profile is no JSON"

firmware=${NOCAP_FIRMWARE_DIR:-}
if [ -n "$firmware" ] && [ -r "$firmware/brisc.elf" ]; then
    status 0 "from blackhole-py's firmware" "$NOCAP" profile from-elf "$firmware"/*.elf -o "$T/p.json"
    out_has "who says it" "mailbox.go_messages                        0x370  <- $firmware/brisc.elf"
    "$NOCAP" profile show blackhole-py >"$T/shipped.json"
    check "exactly the shipped profile" cmp -s "$T/p.json" "$T/shipped.json"
else
    skip "from blackhole-py's firmware" "set NOCAP_FIRMWARE_DIR to its folder riscv-firmware/p100a"
fi

cc=riscv64-unknown-elf-gcc
if ! command -v $cc >/dev/null; then
    skip "profiles from ELF files" "$cc is not installed"
    finish
fi
# build NAME <SOURCE
build() {
    cat >"$T/$1.c"
    $cc -g -O1 -march=rv32im -mabi=ilp32 -ffreestanding -nostdlib -Wl,-Ttext=0x3840 -Wl,-e,start \
        "$T/$1.c" -o "$T/$1.elf" 2>"$T/cc" || sed 's/^/# /' "$T/cc"
}
# firmware NAME CORE_TYPES SLOTS MORE: a mailbox with so many, and MORE before the mask.
firmware() {
    build "$1" <<END
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;
typedef unsigned long long u64;
struct halt_t { u32 resume_addr, stack_save; };
typedef struct { u16 rta_offset, crta_offset; } rta_offset_t;
typedef struct {
    volatile u32 kernel_config_base[$2];
    volatile u16 sem_offset[$2], local_cb_offset, remote_cb_offset;
    rta_offset_t rta_offset[5];
    volatile u8 mode, pad2[3];
    volatile u32 kernel_text_offset[5];
    $4
    volatile u64 local_cb_mask;
    volatile u8 brisc_noc_id, brisc_noc_mode, min_remote_cb_start_index, exit_erisc_kernel;
    volatile u32 host_assigned_id, enables;
    volatile u16 watcher_kernel_ids[5], ncrisc_kernel_size16;
    volatile u8 sub_device_origin_x, sub_device_origin_y, pad3[5];
    volatile u8 num_sw_threads[8], kernel_thread_id[8], preload;
} __attribute__((packed)) kernel_config_msg_t;
struct launch_msg_t { kernel_config_msg_t kernel_config; } __attribute__((packed));
struct go_msg_t { u8 dispatch_message_offset, master_x, master_y, signal; } __attribute__((packed));
struct mailboxes_t {
    struct halt_t ncrisc_halt;
    struct { volatile u8 map[4]; } subordinate_sync;
    volatile u32 launch_msg_rd_ptr;
    struct launch_msg_t launch[$3] __attribute__((aligned(16)));
    volatile struct go_msg_t go_messages[9];
    u64 link_status_check_timestamp;
    volatile u32 go_message_index;
};
static struct mailboxes_t *const mailboxes = (struct mailboxes_t *)0x60;
void start(void) { mailboxes->go_message_index = mailboxes->launch[0].kernel_config.enables; for (;;) ; }
END
}
firmware today 4 8 'volatile u32 kernel_text_size[5]; volatile u8 pad4[12];'
status 0 "launch messages of 160 bytes" "$NOCAP" profile from-elf "$T/today.elf" -o "$T/p.json"
out_has "their go words" "mailbox.go_messages                        0x570  <- $T/today.elf"
out_has "and the nearest" "<- tt-metal-2026-08, the nearest profile (0 of its values differ)"
status 0 "which is then the profile" "$NOCAP" profile diff tt-metal-2026-08 "$T/p.json"
firmware alien 4 7 'volatile u32 text_crc; volatile u8 pad4[4];'
status 0 "an alien mailbox" "$NOCAP" profile from-elf "$T/alien.elf" -o "$T/p.json"
out_has "of its own size" "mailbox.launch_size                        136  <- $T/alien.elf"
out_has "with its own ring" "mailbox.launch_slots                       7  <- $T/alien.elf"
grep -q '"name": "from-elf"' "$T/p.json"
verdict "has its own name" $?

build kernel <<'END'
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;
enum CQPrefetchCmdId { CQ_PREFETCH_CMD_ILLEGAL, CQ_PREFETCH_CMD_RELAY_INLINE = 9, CQ_PREFETCH_CMD_STALL = 3, };
enum CQDispatchCmdId { CQ_DISPATCH_CMD_ILLEGAL, CQ_DISPATCH_CMD_WAIT = 33, CQ_DISPATCH_SET_NUM_WORKER_SEMS = 4, };
struct CQDispatchWaitCmd { u8 flags; u16 stream; u32 count, addr; } __attribute__((packed));
struct CQDispatchWritePackedLargeSubCmd { u32 addr, noc_xy_addr; u16 length_minus1; u8 flags, num_mcast_dests; };
struct CQGenericDebugCmd;
static const u32 CQ_DISPATCH_CMD_WAIT_FLAG_BARRIER = 0x40, prefetch_q_base = 0x20000, prefetch_q_size = 4096;
typedef u32 prefetch_q_entry_type;
volatile u32 *sink = (volatile u32 *)0x1000;
void start(void)
{
    volatile prefetch_q_entry_type *queue = (void *)prefetch_q_base;
    volatile enum CQPrefetchCmdId p = CQ_PREFETCH_CMD_STALL;
    volatile enum CQDispatchCmdId d = CQ_DISPATCH_CMD_WAIT;
    struct CQDispatchWaitCmd *c = (void *)0x4000;
    struct CQDispatchWritePackedLargeSubCmd *l = (void *)0x5000;
    for (;;) *sink = *queue + p + d + c->count + l->addr + CQ_DISPATCH_CMD_WAIT_FLAG_BARRIER + prefetch_q_size;
}
END
status 0 "a kernel" "$NOCAP" profile from-elf "$T/today.elf" "$T/kernel.elf" -o "$T/p.json"
out_has "ids" "dispatch.WAIT                              id 33, 16 bytes: flags 1:1, stream 2:2, count 4:4, addr 8:4"
out_has "of what is listed" "prefetch.RELAY_PAGED                       none"
out_has "ids of the prefetcher" "prefetch.RELAY_INLINE                      id 9"
out_has "sub-commands" "sub.PACKED_LARGE                           12 bytes: addr 0:4, noc_xy 4:4, length_minus1 8:2, flags 10:1, num_mcast_dests 11:1"
out_has "width of an entry" "queue.entry_bytes                          4  <- $T/kernel.elf"
out_has "slots" "queue.queue_slots                          1024"
out_has "flags" "flags.WAIT.BARRIER                         0x40"
out_has "the mailbox by the other file" "mailbox.go_messages                        0x570  <- $T/today.elf"
status 0 "the file is a profile" "$NOCAP" profile show "$T/p.json"

for version in 4 5; do
    $cc -gdwarf-$version -O1 -march=rv32im -mabi=ilp32 -ffreestanding -nostdlib -Wl,-e,start "$T/kernel.c" -o "$T/dwarf.elf"
    status 0 "DWARF $version" "$NOCAP" profile from-elf "$T/today.elf" "$T/dwarf.elf" -o "$T/dwarf-$version.json"
done
check "both say the same" cmp -s "$T/dwarf-4.json" "$T/dwarf-5.json"
$cc -O1 -march=rv32im -mabi=ilp32 -ffreestanding -nostdlib -Wl,-e,start -s "$T/kernel.c" -o "$T/stripped.elf"
status 3 "a stripped file" "$NOCAP" profile from-elf "$T/stripped.elf"
err_has "what to do" "no debug information: give a file that was not stripped"
build nothing <<'END'
void start(void) { for (;;) ; }
END
status 3 "a file that says nothing" "$NOCAP" profile from-elf "$T/nothing.elf"
err_has "which would" "give brisc.elf, or the kernels"
status 3 "no ELF file" "$NOCAP" profile from-elf "$T/kernel.c"

# ---- live captures ----

sanitized && skip "captures" "a sanitizer's run time must come before the shim" && finish
B=$(cd "$(dirname "$NOCAP")" && pwd)
ln -s "$B/tests/libfake-kmd.so" "$T/libfake-kmd.so"
# capture NAME=VALUE... ARGS...: of a host of a command queue, under the variables.
capture() { env LD_PRELOAD="$T/libfake-kmd.so" FAKE_NOC=0 CLIENT_PROFILE=tt-metal-2026-09 "$@"; }
host=$B/tests/kmd_client
header() { "$NOCAP" dump --format jsonl "$1" 2>/dev/null | head -1; }
# Files as tt-metal keeps them: firmware and kernels in folders of their own.
cache=$T/metal/tt-metal-cache/1234/77
mkdir -p "$cache/firmware/11/brisc" "$cache/kernels/add/9/brisc" "$cache/kernels/cq_prefetch/5/brisc"
cp "$T/today.elf" "$cache/firmware/11/brisc/brisc.elf"
cp "$T/nothing.elf" "$cache/kernels/add/9/brisc/brisc.elf"
cp "$T/kernel.elf" "$cache/kernels/cq_prefetch/5/brisc/brisc.elf"
status 0 "a profile that is named" capture "$NOCAP" capture --profile tt-metal-2026-09 -o "$T/live.nocap" -- "$host" queue
header "$T/live.nocap" >"$T/out"
out_has "is in the header" '"name":"tt-metal-2026-09"'
status 0 "by which it is right" "$NOCAP" check "$T/live.nocap"
check "its records are in the trace" test "$("$NOCAP" dump --format jsonl "$T/live.nocap" | grep -c '"op":"record"')" = 400
status 0 "ELF files" capture "$NOCAP" capture --elf-dir "$T/metal" -o "$T/live.nocap" -- "$host" queue
err_has "are found" "profile from-elf, as the ELF files below $T/metal say"
header "$T/live.nocap" >"$T/out"
out_has "and say the mailbox" '"go_messages":"0x570"'
out_has "and the queue" '"queue_slots":1024'
check "whose records these are not" test "$("$NOCAP" dump --format jsonl "$T/live.nocap" | grep -c '"op":"record"')" = 0
status 0 "no ELF files" capture "$NOCAP" capture -o "$T/live.nocap" -- "$host" queue
status 0 "the queue is found by what the host does" "$NOCAP" check "$T/live.nocap"
check "with its records" test "$("$NOCAP" dump --format jsonl "$T/live.nocap" | grep -c '"op":"record"')" = 400
status 0 "an address that is not the profile's" "$NOCAP" check --profile blackhole-py "$T/live.nocap"
out_has "is told" "a command queue as tt-metal-2026-06 has it, not blackhole-py"
status 0 "tt-metal's cache" capture TT_METAL_CACHE="$T/metal" "$NOCAP" capture -o "$T/live.nocap" -- "$host" queue
err_has "is looked into" "below $T/metal/tt-metal-cache say"
mkdir -p "$T/metal/tt-metal-cache/5678/firmware/brisc"
cp "$T/alien.elf" "$T/metal/tt-metal-cache/5678/firmware/brisc/brisc.elf"
status 0 "one with two builds" capture TT_METAL_CACHE="$T/metal" "$NOCAP" capture -o "$T/live.nocap" -- "$host" queue
err_has "says nothing" "have different profiles: name the one that runs with --elf-dir"
header "$T/live.nocap" >"$T/out"
check "and the header neither" bash -c "! grep -q profile '$T/out'"
mkdir -p "$T/py/riscv-firmware/p100a" "$T/py/examples"
cp "$T/today.elf" "$T/py/riscv-firmware/p100a/brisc.elf"
cp "$host" "$T/py/examples/host"
status 0 "riscv-firmware" capture "$NOCAP" capture -o "$T/live.nocap" -- "$T/py/examples/host" queue
err_has "is found above the program" "profile tt-metal-2026-08, as the ELF files below $T/py/riscv-firmware say"
mkdir "$T/late"
status 0 "files that the program makes" capture TT_METAL_CACHE="$T/late" "$NOCAP" capture -o "$T/live.nocap" -- \
    sh -c "'$host' queue; mkdir -p '$T/late/tt-metal-cache/1/firmware'; cp '$T/today.elf' '$T/late/tt-metal-cache/1/firmware/brisc.elf'"
err_has "come too late, which is told" "nocap profile from-elf, then nocap check --profile"
status 3 "a folder without ELF files" "$NOCAP" capture --elf-dir "$T/py/examples" -o "$T/x.nocap" -- true
err_has "is told" "there is no brisc.elf and no kernel cq_prefetch or cq_dispatch below $T/py/examples"
status 3 "no folder" "$NOCAP" capture --elf-dir "$T/nosuch" -o "$T/x.nocap" -- true
status 3 "a profile that is none" "$NOCAP" capture --profile nosuch -o "$T/x.nocap" -- true
status 2 "two that say it" "$NOCAP" capture --profile blackhole-py --elf-dir "$T/py" -o "$T/x.nocap" -- true
status 2 "of no command" "$NOCAP" capture --elf-dir "$T/py" --sim boot -o "$T/x.nocap"
status 0 "a Wormhole" capture FAKE_DEVICE_ID=401E "$NOCAP" capture --profile tt-metal-2026-09 -o "$T/live.nocap" -- "$host" count 10
header "$T/live.nocap" >"$T/out"
out_has "is one" '"arch":"wormhole"'
check "without a profile of Blackhole" bash -c "! grep -q profile '$T/out'"
rm "$T/live.nocap"
status 4 "a device that nobody names" capture FAKE_DEVICE_ID=none "$NOCAP" capture -o "$T/live.nocap" -- "$host" count 10
err_has "is told" "the driver does not say what device it is"
check "and not recorded" test ! -e "$T/live.nocap"
finish
