# SPDX-License-Identifier: Apache-2.0
"""usage: sampled_view.py reduce CLOCKS < run.jsonl: the host's accesses of a trace, and its mailboxes as one who
looks at them every so many clocks sees them (class `sampled`).
       sampled_view.py faults NOCAP FOLDER CLOCKS[,CLOCKS..] SEED...: each fault of the built-in device model so; prints which
are found that the host alone does not show, and the false alarms of correct runs, for which the status is 1.
       sampled_view.py files NOCAP FOLDER CLOCKS[,CLOCKS..] TRACE...: the same of traces as they are, no verdict."""
import json
import subprocess
import sys

FIRST, END = 0x60, 0x3A4  # sync word to go_message_index
AGENTS = ("brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "noc", "host")


def tiles_of(event):
    if "x2" not in event:
        return [(event.get("chip", 0), event["x"], event["y"])]
    return [(event.get("chip", 0), x, y) for x in range(event["x"], event["x2"] + 1)
            for y in range(event["y"], event["y2"] + 1) if x not in (8, 9)]


def bytes_of(event):
    if "data" in event:
        return bytes.fromhex(event["data"])
    if "value" in event and event.get("size", 0) <= 8:
        return int(event["value"], 16).to_bytes(8, "little")[:event["size"]]
    return None


class Sampler:
    """The mailboxes, what the look before saw of them, and the lines so far."""

    def __init__(self, header, clocks):
        self.clocks, self.before, self.lines = clocks, 0, []
        self.scope = {tuple(at) for at in header["scope"]} if "scope" in header else None
        self.zero = header.get("complete", False)
        self.now, self.seen = {}, {}
        header = dict(header, observes=["host-mmio", "sampled"])
        header.pop("scope", None)
        self.lines.append(json.dumps(header))

    def store(self, event):
        data = bytes_of(event)
        addr = int(event["addr"], 16)
        size = len(data) if data is not None else event.get("size", 0)
        if event.get("space", "tile") != "tile" or addr >= END or addr + size <= FIRST:
            return
        for tile in tiles_of(event):
            if self.scope is not None and tile[1:] not in self.scope:
                continue
            fresh = [0 if self.zero else None] * (END - FIRST)
            memory = self.now.setdefault(tile, fresh)
            self.seen.setdefault(tile, list(fresh))
            for i in range(size):
                if FIRST <= addr + i < END:
                    memory[addr + i - FIRST] = data[i] if data is not None else None

    def look(self, t):
        for tile, memory in sorted(self.now.items()):
            seen = self.seen[tile]
            for at in range(0, END - FIRST, 4):
                word = memory[at:at + 4]
                if word != seen[at:at + 4] and None not in word:
                    seen[at:at + 4] = word
                    self.lines.append(json.dumps({"t": t, "ev": "mem", "chip": tile[0], "x": tile[1], "y": tile[2],
                                                  "addr": hex(FIRST + at), "data": bytes(word).hex(),
                                                  "since": self.before}))
        self.before = t

    def take(self, event):
        while event["t"] > self.before + self.clocks:
            change = any(self.now[tile] != self.seen[tile] for tile in self.now)
            left = (event["t"] - 1 - self.before) // self.clocks
            if not change and left > 1:  # nothing to see for a while
                self.before += (left - 1) * self.clocks
                continue
            self.look(self.before + self.clocks)
        if event["ev"] == "mem" or (event["ev"] == "write" and event.get("by") in AGENTS):
            self.store(event)
        if event["ev"] == "mem" or event.get("by") == "host":
            event.pop("src", None)
            self.lines.append(json.dumps(event))


def reduce(lines, clocks):
    sampler = Sampler(json.loads(lines[0]), clocks)
    for line in lines[1:]:
        sampler.take(json.loads(line))
    sampler.look(sampler.before + sampler.clocks)
    return sampler.lines


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def judge(nocap, folder, lines):
    """The rules that are violated, and the verdict of hang with the agents of its root."""
    path = folder + "/sampled.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    report = json.loads(output(nocap, "check", "--format", "json", path))
    hang = json.loads(output(nocap, "hang", "--format", "json", path))
    rules = sorted({f["rule"] for f in report["findings"] if "follows" not in f})
    return rules, hang["verdict"] + ":" + ",".join(sorted({r["agent"] for r in hang["root"]}))


def compare(nocap, folder, name, lines, clocks, correct):
    """Prints what samples add to what the host alone shows; gives the number of false alarms."""
    header = dict(json.loads(lines[0]), observes=["host-mmio"])
    header.pop("scope", None)
    host = [json.dumps(header)] + [l for l in lines[1:] if json.loads(l).get("by") == "host" or '"mem"' in l]
    alone, verdict = judge(nocap, folder, host)
    false = 0
    for n in clocks:
        rules, sampled = judge(nocap, folder, reduce(lines, n))
        more = [rule for rule in rules if rule not in alone]
        false += correct and bool(more)
        if more or sampled != verdict:
            print(f"# {name}, every {n}: {' '.join(more) or '-'}; {verdict} -> {sampled}")
    return false


def main():
    if sys.argv[1] == "reduce":
        print("\n".join(reduce(sys.stdin.read().splitlines(), int(sys.argv[2]))))
        return 0
    nocap, folder, clocks = sys.argv[2], sys.argv[3], [int(n) for n in sys.argv[4].split(",")]
    false = 0
    if sys.argv[1] == "files":
        for path in sys.argv[5:]:
            lines = output("zstd", "-dcf", path).splitlines()
            compare(nocap, folder, path.split("/")[-1], lines, clocks, False)
        return 0
    listed = output(nocap, "capture", "--sim", "list").split("\nfaults,")[1]
    names = [line.split()[0] for line in listed.splitlines()[1:] if line.strip()]
    for scenario in ("boot", "launch-host", "launch-dev"):
        for seed in sys.argv[5:]:
            for fault in [None] + names:
                command = [nocap, "capture", "--sim", scenario, "--tiles", "2", "--seed", seed, "-o", folder + "/run.nocap"]
                command += ["--fault", fault] if fault else []
                if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                    lines = output(nocap, "dump", "--format", "jsonl", folder + "/run.nocap").splitlines()
                    false += compare(nocap, folder, f"{fault or 'correct'}, {scenario}, seed {seed}", lines, clocks, not fault)
    print("#", false, "false alarms")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
