#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Transaction streams of aie2 and aie2p: the examples of the rules, disasm, hang.
. tests/cli/lib.sh

mkdir "$T/bin"
ln -s "$(realpath "$NOCAP")" "$T/bin/nocap"
PATH=$T/bin:$PATH
for example in checker/rules/examples/TXN-*.fail.sh; do
    rule=$(basename "$example" .fail.sh)
    status 1 "$rule is violated" bash "$example"
    check "by one finding" test "$(grep -c "^[a-z]* TXN-" "$T/out")" -eq 1
    out_has "which is its own" "$rule:"
    status 0 "$rule holds" bash "${example%.fail.sh}.pass.sh"
    out_has "with nothing told" "verdict: clean"
done

sed -n "/END'/,/^END/{/END/d;p}" checker/rules/examples/TXN-002.pass.sh | basenc -d -i --base16 >"$T/insts.bin"
status 0 "disasm" "$NOCAP" aie disasm "$T/insts.bin"
out_has "says what the file is" "the stream: aie2p, version 0.1"
out_has "and what is written where" "queue of TILE_0_0 S2MM_0: descriptor 0, 1 times, token"
status 0 "disasm to JSON" "$NOCAP" aie disasm --format json "$T/insts.bin"
out_has "has each operation" '"index":3,"off":136,"size":16,"op":"XAIE_IO_CUSTOM_OP_TCT"'
status 3 "run" "$NOCAP" aie run "$T/insts.bin" -o "$T/t.nocap"
err_has "does not take it" "a transaction stream of aie2 or aie2p"
echo "txn_op_idx = 0x00000003" >"$T/message"
status 1 "hang" "$NOCAP" hang "$T/insts.bin" --log "$T/message"
out_has "names the operation" "operation 3 at 0x88, XAIE_IO_CUSTOM_OP_TCT"
status 3 "hang without one" "$NOCAP" hang "$T/insts.bin" --stuck 0:0:24
err_has "asks for it" "txn_op_idx"
head -c 150 "$T/insts.bin" >"$T/cut.bin"
status 3 "a stream that is cut" "$NOCAP" aie disasm "$T/cut.bin"
err_has "is none" "nor a transaction stream"
finish
