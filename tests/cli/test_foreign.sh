#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Text of others in every place where a trace, a file or a name can carry it: no command lets a byte
# of it reach a terminal or a log that steers, turns, ends a line, or is no UTF-8.
# shellcheck source-path=SCRIPTDIR
. tests/cli/lib.sh
if ! command -v python3 >/dev/null; then
    skip "foreign text" "python3 is not installed"
    finish
fi

# The text: ESC, a workflow command on a line of its own, carriage return, C1 as UTF-8 and as a byte,
# bidirectional controls, DEL, bytes that are no UTF-8.
cat >"$T/make.py" <<'END'
import json, os, struct, sys
T = sys.argv[1].encode()
bad = (b'q\x1b[31m\n::stop-commands::x\r\xc2\x9b31m\xc2\x85\xe2\x80\xae\xe2\x80\x8f\xd8\x9c\xe2\x81\xa6\x7f'
       b'\xe2\x80\xa8\x9b\xff')
def text(b):                    # in JSON: what must be escaped is, the rest stands as it is
    out = b''
    for c in b:
        out += b'\\u%04x' % c if c < 0x20 or c in b'"\\' else bytes([c])
    return b'"' + out + b'"'
def write(name, content):
    with open(os.path.join(T, name.encode()), 'wb') as f: f.write(content)
q = text(bad)
def header(arch, *more):
    h = [b'"nocap":1', b'"arch":"%s"' % arch, *more]
    return b'{' + b','.join(h) + b'}\n'
common = [b'"producer":' + q, b'"layout":' + q, b'"observes":["core-store","host-mmio","kernel","cert",' + q + b']',
          q + b':' + q, b'"cq":{' + q + b':1}', b'"clock_hz":5']
firmware = b'"firmware":{"brisc":%s,"ncrisc":%s,"uc":%s,%s:%s}' % (q, text(b'/' + bad), q, q, q)
events = [
    b'{"t":1,"ev":"note","text":%s}' % q,
    b'{"t":2,"ev":"note","x":1,"y":2,"text":%s}' % text(b'runs brisc ' + bad),
    b'{"t":3,"ev":"note","x":1,"y":2,"text":%s}' % text(b'at \x1b\xc2\x9b\xe2\x80\xae brisc'),
    b'{"t":4,"ev":"new kind","what":%s,%s:1}' % (q, q),
    b'{"t":5,"ev":"kernel","op":"enter","x":1,"y":2,"by":"brisc","mine":%s,%s:%s}' % (q, q, q),
    b'{"t":6,"ev":"write","x":1,"y":2,"by":"brisc","addr":"0x373","size":1,"value":"0x80","mine":%s}' % q,
    b'{"t":7,"ev":"write","x":1,"y":2,"by":"host","addr":"0x10","size":4,"value":"0x80","mine":%s}' % q,
    b'{"t":8,' + bad.replace(b'\n', b''),
    b'no event ' + bad.replace(b'\n', b''),
    b'{"t":9,"ev":"cert","uc":0,"op":"start","page":0,"off":16,"job":1,"insn":"0000"}',
]
body = b'\n'.join(events) + b'\n'
write('plain.jsonl', header(b'blackhole', *common, firmware, b'"complete":true') + body)
write('aie.jsonl', header(b'aie2ps', *common, firmware) + body)
write('other.jsonl', header(b'blackhole', *common) + body.replace(b'"0x80"', b'"0x81"') + events[0] + b'\n')
write('arch.jsonl', header(bad.replace(b'\n', b'').replace(b'\r', b'').replace(b'\x1b', b'')))
write('no.jsonl', bad)
write('waivers', b'SYN-004 ' + bad.replace(b'\n', b'') + b'\nGO-010 1,2 -- ' + bad + b'\n')
write('baseline', text(bad))
write('noc.json', b'[{"proc":%s,"noc":%s,"sx":%s,"run_host_id":1,"timestamp":1,"type":%s,%s:%s}]' % (q, q, q, q, q, q))
write('watcher.log', b'Device 0 worker core(x= 0,y= 0) phys(x= 1,y= 2): ' + bad + b'\n' + bad)
write('bad.asm', bad)
write('include.asm', b'.include "%s"\n' % bad.replace(b'\n', b'').replace(b'\r', b''))
write('uc_log', b'uc0 ' + bad + b'\n')
os.makedirs(os.path.join(T, b'golden'), exist_ok=True)
for key in (b'name', b'made', b'reason', b'findings', b'violated', b'digest', b'other'):
    line = {b'trace': b'x', b'made': b'imported', b'reason': b'r', b'findings': b'error 0, warning 0, note 0',
            b'violated': b'none', b'digest': b'total 0'}
    one = bad.replace(b'\n', b'')
    line[{b'name': b'trace', b'other': one}.get(key, key)] = one
    d = os.path.join(T, b'golden', key); os.makedirs(d, exist_ok=True)
    with open(os.path.join(d, b'manifest.txt'), 'wb') as f:
        f.write(b''.join(b'%-8s %s\n' % kv for kv in line.items()))
folder = os.path.join(T, b'folder' + bad.replace(b'/', b'')); os.makedirs(folder, exist_ok=True)
for name in ('plain.jsonl', 'aie.jsonl'):
    os.symlink(os.path.join(T, name.encode()), os.path.join(folder, name.encode()))
END
# Judges all outputs that were gathered: "0 NAME" is well, "1 NAME" is not.
cat >"$T/judge.py" <<'END'
import json, os, re, sys, xml.dom.minidom
raw = re.compile(rb'[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
                 rb'|(^|\n)\s*::stop')
def problems(name, stream, data):
    try: text = data.decode('utf-8')
    except UnicodeDecodeError as e: return [f'no UTF-8: {data[max(0, e.start - 30):e.end + 9]!r}']
    found = [f'raw: {data[max(0, m.start() - 40):m.end() + 9]!r}' for m in list(raw.finditer(data))[:2]]
    try:
        if stream == 'out' and text and re.search(r'\b(json|sarif)\b', name): json.loads(text)
        if stream == 'out' and text and ' junit ' in name: xml.dom.minidom.parseString(text)
    except Exception as e: found.append(f'cannot be parsed: {e}')
    return found
told = ran = 0
for line in open(os.path.join(sys.argv[1], 'list'), encoding='utf-8', errors='replace'):
    number, status, name = line.rstrip('\n').split(' ', 2)
    outputs = {s: open(os.path.join(sys.argv[1], f'{number}.{s}'), 'rb').read() for s in ('out', 'err')}
    bad = [f'{s}: {p}' for s, data in outputs.items() for p in problems(name, s, data)]
    if int(status) > 127 or int(status) == 124: bad.append(f'status {status}')
    for p in bad: print('#', p)
    ran += 1
    told += any(b'stop-commands' in data for data in outputs.values())
    print(int(bool(bad)), name)
print(int(2 * told <= ran), f'{told} of {ran} commands show the text')
END
python3 "$T/make.py" "$T" || exit 1
for folder in "$T"/folder*; do :; done
ran=0
mkdir "$T/outputs"

# clean NAME COMMAND...: nothing raw may come out of it.
clean() {
    local name=$1
    shift
    ran=$((ran + 1))
    timeout 60 "$@" >"$T/outputs/$ran.out" 2>"$T/outputs/$ran.err" </dev/null
    echo "$ran $? $name" >>"$T/outputs/list"
}

"$NOCAP" import jsonl "$T/plain.jsonl" -o "$T/plain.nocap" 2>/dev/null
"$NOCAP" import jsonl "$T/aie.jsonl" -o "$T/aie.nocap" 2>/dev/null
cp "$T/plain.nocap" "$folder/plain.nocap"
for trace in "$T/plain.jsonl" "$T/aie.jsonl" "$T/plain.nocap" "$T/aie.nocap" "$folder/plain.jsonl" \
    "$folder/plain.nocap" "$folder/none" "$T/arch.jsonl" "$T/no.jsonl"; do
    name=${trace##*/}
    for format in text json sarif junit github markdown; do
        clean "check $format $name" "$NOCAP" check --format $format "$trace"
    done
    clean "check of two, $name" "$NOCAP" check --jobs 2 "$trace" "$T/other.jsonl"
    for format in text json dot; do
        clean "hang $format $name" "$NOCAP" hang --format $format "$trace"
    done
    for format in text jsonl csv; do
        clean "dump $format $name" "$NOCAP" dump --format $format "$trace"
    done
    for format in text json; do
        clean "info $format $name" "$NOCAP" info --noc --format $format "$trace"
        clean "replay $format $name" "$NOCAP" replay --format $format "$trace"
        clean "replay of a tile, $format $name" "$NOCAP" replay --tile 1,2 --format $format "$trace"
        clean "coverage $format $name" "$NOCAP" coverage --format $format "$trace"
        clean "diff $format $name" "$NOCAP" diff --format $format "$trace" "$T/other.jsonl"
    done
    clean "cut $name" "$NOCAP" cut --index 0..3 "$trace" -o "$T/part.nocap"
    clean "minimise $name" "$NOCAP" minimise --rule SYN-001 "$trace" -o "$T/part.nocap"
    clean "golden record $name" "$NOCAP" golden record "$T/g$ran" x "$trace" --reason r
    clean "export to a folder, $name" "$NOCAP" import jsonl "$trace" -o "$folder/new.nocap"
done
bad=${folder##*/}
clean "waivers" "$NOCAP" check --waivers "$T/waivers" "$T/plain.jsonl"
clean "baseline" "$NOCAP" check --baseline "$T/baseline" "$T/plain.jsonl"
clean "rules" "$NOCAP" check --rules "$bad" "$T/plain.jsonl"
clean "--elf" "$NOCAP" check --elf "$bad" "$T/plain.jsonl"
clean "--elf CORE" "$NOCAP" check --elf "$bad=x" "$T/plain.jsonl"
clean "--elf FILE" "$NOCAP" check --elf "brisc=$folder/none" "$T/plain.jsonl"
clean "filter" "$NOCAP" dump --filter "$bad" "$T/plain.jsonl"
clean "filter of a text" "$NOCAP" dump --filter "text==\"$bad\" $bad" "$T/plain.jsonl"
clean "cut with a filter" "$NOCAP" cut --filter "$bad" "$T/plain.jsonl" -o "$T/part.nocap"
clean "command" "$NOCAP" "$bad"
clean "option" "$NOCAP" check "--$bad"
clean "choice" "$NOCAP" check --format "$bad"
clean "number" "$NOCAP" check --from "$bad" x
clean "rule" "$NOCAP" explain "$bad"
clean "operand too many" "$NOCAP" info x "$bad"
clean "output" "$NOCAP" check "$T/plain.jsonl" -o "$folder/none/x"
clean "import of no format" "$NOCAP" import "$bad" "$T/no.jsonl" -o "$T/in.nocap"
for format in noc-json watcher jsonl l1-dump; do
    for input in noc.json watcher.log no.jsonl plain.jsonl; do
        clean "import $format $input" "$NOCAP" import "$format" "$T/$input" -o "$T/in.nocap"
        [ -f "$T/in.nocap" ] && clean "check of it" "$NOCAP" check "$T/in.nocap"
    done
done
clean "asm" "$NOCAP" aie asm "$T/bad.asm" -o "$T/x.elf"
clean "include" "$NOCAP" aie asm "$T/include.asm" -o "$T/x.elf"
clean "asm of no file" "$NOCAP" aie asm "$folder/none" -o "$T/x.elf"
clean "aie action" "$NOCAP" aie "$bad" x
clean "log" "$NOCAP" hang tests/data/aie/dma.elf --log "$T/uc_log"
clean "stuck" "$NOCAP" hang tests/data/aie/dma.elf --stuck "$bad"
for entry in "$T"/golden/*; do
    touch "$entry/x.nocap"
    cp "$T/plain.nocap" "$entry/x.nocap"
    clean "golden verify, ${entry##*/}" "$NOCAP" golden verify "$entry"
    clean "golden verify --run, ${entry##*/}" "$NOCAP" golden verify --run "$entry"
    clean "golden update, ${entry##*/}" "$NOCAP" golden update "$entry"
done
clean "golden of no folder" "$NOCAP" golden verify "$folder/none"
clean "capture of no command" "$NOCAP" capture -o "$T/c.nocap" -- "$folder/none"
clean "capture of a scenario" "$NOCAP" capture --sim "$bad" -o "$T/c.nocap"

# Names in ELF files: a symbol of a kernel, the name of a kernel of AIE control code.
cat >"$T/names.py" <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
bad = b'\x1b[1m\n::stop\xc2\x9b\xe2\x80\xae\x7f\xff'
name = sys.argv[3].encode()
assert name in data and len(name) >= len(bad)
open(sys.argv[2], 'wb').write(data.replace(name, bad + name[len(bad):]))
END
long=averylongnameofakernel_$(printf 'x%.0s' {1..20})
printf '.kernel _Z43%sPc, first\nSTART_JOB 1\n  WRITE_32 0x2000, 1\n  MASK_POLL_32 0x1A0000, 1, 1\nEND_JOB\nEOF\n' $long >"$T/k.asm"
"$NOCAP" aie asm "$T/k.asm" -o "$T/k.elf" && python3 "$T/names.py" "$T/k.elf" "$folder/k.elf" $long
for action in "aie disasm" "aie disasm --format json" "aie lint" "aie lint --format json" \
    "aie run -o $T/k.nocap"; do
    # shellcheck disable=SC2086
    clean "$action of a kernel" "$NOCAP" $action "$folder/k.elf"
done
clean "disasm of no such kernel" "$NOCAP" aie disasm --kernel "$bad" "$folder/k.elf"
[ -f "$T/k.nocap" ] && clean "check of its run" "$NOCAP" check "$T/k.nocap"
if command -v riscv64-unknown-elf-gcc >/dev/null; then
    printf '__attribute__((noinline)) void %s(void){__asm__ volatile(".word %%0"::"i"(0x12345u));}void kernel(void){%s();}' \
        $long $long >"$T/trisc1.c"
    riscv64-unknown-elf-gcc -O1 -march=rv32i -mabi=ilp32 -ffreestanding -nostdlib -Wl,-Ttext=0x6e00 \
        -Wl,-e,kernel "$T/trisc1.c" -o "$T/trisc1.elf"
    python3 "$T/names.py" "$T/trisc1.elf" "$folder/trisc1.elf" $long
    clean "lint" "$NOCAP" lint "$folder/trisc1.elf"
    clean "lint as JSON" "$NOCAP" lint --format json "$folder/trisc1.elf"
    clean "dump with symbols" "$NOCAP" dump --elf "brisc=$folder/trisc1.elf" "$T/plain.jsonl"
else
    skip "symbols of kernels" "riscv64-unknown-elf-gcc is not installed"
fi
python3 "$T/judge.py" "$T/outputs" >"$T/judged"
while read -r result name; do
    if [ "$result" = "#" ]; then
        echo "# $name"
    else
        verdict "$name" "$result"
    fi
done <"$T/judged"
check "all of them were judged" test "$(grep -c '^[01]' "$T/judged")" -eq $((ran + 1))

# What is escaped means the same.
"$NOCAP" dump --format jsonl "$T/plain.nocap" >"$T/once.jsonl" 2>/dev/null
"$NOCAP" import jsonl "$T/once.jsonl" -o "$T/once.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/once.nocap" >"$T/twice.jsonl"
check "JSON Lines are the same again" cmp "$T/once.jsonl" "$T/twice.jsonl"
for trace in plain once; do
    "$NOCAP" dump --filter 'ev==note' "$T/$trace.nocap" >"$T/$trace.notes" 2>/dev/null
done
check "notes keep their text" cmp "$T/plain.notes" "$T/once.notes"
check "which is there" grep -q 'stop-commands' "$T/plain.notes"
finish
