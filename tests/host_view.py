# SPDX-License-Identifier: Apache-2.0
"""usage: host_view.py NOCAP FOLDER SEED...: each fault of the built-in device model as the host alone sees it, in
one of its scenarios, which take turns, and every other fault; in all of them with NOCAP_LONG_SEEDS set.

A fault counts where what the host does or finds differs from the correct run of the same seed. It is told
if a finding names it, or a hang its root. Prints those that are not, and the sums; status 1 below 95 %, of
command queues below 80 %: there a difference may be one of time alone. Status 1, too, if a correct run of a
queue is accused."""
import json
import os
import re
import subprocess
import sys

SCENARIOS = ("boot", "launch-host", "launch-dev")
QUEUES = ("fast-dispatch", "fast-dispatch-rings", "fast-dispatch-packed", "fast-dispatch-subordinate",
          "fast-dispatch-multicast")
ENOUGH = {SCENARIOS: 0.95, QUEUES: 0.80}
# Of these the host's own accesses are those of a program that may be right: what is wrong happens
# inside the device, or shows in bytes that this host does not load. They must not be told either.
HIDDEN = {
    "disabled-core-runs": "the message enables other cores than in the correct run; who runs, no load shows",
    "reset-unproven": "whether BRISC has obeyed the request before GO, no load shows",
    "reset-lost": "the same; which slot runs then, no load shows",
    "rd-ptr-plus-2": "the ring is reset elsewhere than in the correct run; rd_ptr is not loaded after it",
    "notify-in-host-mode": "the go word names a dispatcher, and a HOST mode launch may have one",
    "notify-missing": "the host waits for DONE itself; notifies go to the dispatcher",
    "notify-wrong-stream": "the same",
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def faults(nocap):
    """Names, each with its scenarios, as `capture --sim list` has them."""
    scenarios, listed = output(nocap, "capture", "--sim", "list").split("\nfaults,")
    letters = dict(line.split()[:2] for line in scenarios.splitlines()[1:] if line.strip())
    for name, strikes in re.findall("^  ([^ ]+) +.*? ([A-Z]+)  ", listed, re.MULTILINE):
        yield name, [scenario for scenario in letters if letters[scenario] in strikes]


def host_lines(nocap, folder, scenario, seed, fault):
    """What the host alone shows; None: the scenario cannot have the fault."""
    command = [nocap, "capture", "--sim", scenario, "--seed", seed, "-o", folder + "/run.nocap"]
    command += ["--tiles", "2"] if scenario in SCENARIOS else []
    command += ["--fault", fault] if fault else []
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return None
    lines = output(nocap, "dump", "--format", "jsonl", "-f", "by==host", folder + "/run.nocap").splitlines()
    header = json.loads(lines[0])
    header["observes"] = ["host-mmio"] if scenario in SCENARIOS else ["host-mmio", "sysmem"]
    header.pop("scope", None)
    return [json.dumps(header)] + lines[1:]


def acts(lines):
    """What the host did and found, tile by tile, without when and how often it looked.

    TRISC0's register init (0x300) goes on after DONE: whether a look meets it is a matter of time."""
    tiles = {}
    for line in lines[1:]:
        event = json.loads(line)
        for key in ("t", "t2", "n", "seq"):
            event.pop(key, None)
        if event.get("addr") == "0x68" and event.get("value") == "0x300":
            event["value"] = "0x0"
        waits = event["ev"] == "read" and event["addr"] == "0x373" and event.get("value") != "0x0"
        done = tiles.setdefault((event.get("x"), event.get("y")), [])
        if not waits and (not done or done[-1] != event):
            done.append(event)
    return tiles


def queue_acts(lines):
    """The same of a queue: what the host stored in each memory, and what each place showed it, poll by poll."""
    places = {}
    for line in lines[1:]:
        event = json.loads(line)
        for key in ("t", "t2", "n", "seq"):
            event.pop(key, None)
        reads = event["ev"] == "read"
        where = (event.get("x"), event.get("y"), event.get("space"), event["addr"] if reads else None)
        done = places.setdefault(where, [])
        if not reads or not done or done[-1] != event:
            done.append(event)
    return places


def is_told(nocap, folder, lines):
    path = folder + "/host.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    report = json.loads(output(nocap, "check", "--format", "json", path))
    hang = json.loads(output(nocap, "hang", "--format", "json", path))
    return bool(report["findings"]) or (hang["verdict"] == "hung" and bool(hang["root"]))


def struck(nocap, folder, scenarios, seed):
    """Faults with a scenario and what the host shows there."""
    long = "NOCAP_LONG_SEEDS" in os.environ
    for turn, (fault, strikes) in enumerate(faults(nocap)):
        if not long and turn % 2 != int(seed) % 2:
            continue
        mine = [scenario for scenario in strikes if scenario in scenarios]
        for i in range(len(mine)):
            scenario = mine[(turn + i) % len(mine)]
            lines = host_lines(nocap, folder, scenario, seed, fault)
            if lines is not None:
                yield fault, scenario, lines
                if not long:
                    break


def view(nocap, folder, scenarios, seeds):
    """False: too few faults are told, or what is none is."""
    differs = acts if scenarios is SCENARIOS else queue_acts
    seen = told = hidden = accused = 0
    for seed in seeds:
        right = {}
        for scenario in scenarios:
            lines = host_lines(nocap, folder, scenario, seed, None)
            right[scenario] = differs(lines)
            if scenarios is QUEUES and is_told(nocap, folder, lines):
                accused += 1
                print("# a correct run is accused:", scenario, "seed", seed)
        for fault, scenario, lines in struck(nocap, folder, scenarios, seed):
            if differs(lines) != right[scenario]:
                if fault in HIDDEN:
                    hidden += 1
                    if is_told(nocap, folder, lines):
                        accused += 1
                        print("# told, and the host cannot see it:", fault, scenario, "seed", seed)
                    continue
                seen += 1
                if is_told(nocap, folder, lines):
                    told += 1
                else:
                    print("# not told:", fault, scenario, "seed", seed)
    print("#", told, "of", seen, "faults that the host can see are told;", hidden, "it cannot see")
    return seen and told >= ENOUGH[scenarios] * seen and not accused


def main():
    nocap, folder, seeds = sys.argv[1], sys.argv[2], sys.argv[3:]
    right = [view(nocap, folder, scenarios, seeds) for scenarios in ENOUGH]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
