"""Compares `greenup run` with hyperfine on twenty commands, and with GNU time on ten of them.

    python3 compare_run.py GREENUP HYPERFINE TIME OUT.json [ROUNDS]

In each round both tools measure each command, which of them is first alternates. Overhead: wall time of the tool around its
runs (the whole call without the runs themselves and without its start, which an empty measurement of one run gives).
"""

import json
import statistics
import subprocess
import sys
import time

RUNS = 20
COMMANDS = [
    "true", "sleep 0.01", "sleep 0.05", "ls -l /usr/bin", "cat /etc/passwd", "date", "uname -a", "seq 100000",
    "head -c 20000000 /dev/zero", "sha256sum words.txt", "md5sum words.txt", "wc words.txt",
    "sort words.txt", "gzip -kc words.txt", "xz -0kc words.txt", "grep -c a words.txt", "python3 -c pass",
    "python3 -c 'x = [i * i for i in range(1000000)]'", "awk '{ n += length($0) } END { print n }' words.txt",
    "sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; done'",
]  # fmt: skip
OF_TIME = [2, 3, 7, 8, 9, 12, 13, 16, 17, 19]


def call(words):
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True)
    took = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout, took


def greenup(program, command, runs=RUNS):
    out, took = call([program, "run", "--sensor", "none", "-w", "1", "-r", str(runs), "--json", command])
    found = json.loads(out)["results"][0]
    return found["times_s"], took, found


def hyperfine(program, command, runs=RUNS):
    file = "hyperfine.json"
    _, took = call([program, "-N", "-w", "1", "-r", str(runs), "--style", "none", "--export-json", file, command])
    with open(file) as f:
        return json.load(f)["results"][0]["times"], took


def gnu_time(program, command):
    done = subprocess.run(
        [program, "-f", "%M %c %w", "-o", "time.txt", "sh", "-c", "exec " + command], stdout=subprocess.DEVNULL
    )
    assert done.returncode == 0, command
    with open("time.txt") as f:
        memory, forced, waited = map(int, f.read().split())
    return 1024 * memory, forced + waited


def quartiles(x):
    return [round(q, 5) for q in statistics.quantiles(x, n=4)]


def main():
    ours, theirs, gnu, out = sys.argv[1:5]
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    with open("words.txt", "w") as f:
        state = 1
        for _ in range(200_000):
            state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            f.write(f"{state:x}\n")
    rows, memory = [], []
    for n, command in enumerate(COMMANDS):
        ratios, overheads = [], []
        for round_ in range(rounds):
            tools = [("ours", greenup, ours), ("theirs", hyperfine, theirs)]
            found = {}
            for name, tool, program in tools if round_ % 2 == 0 else tools[::-1]:
                times, took, *_ = tool(program, command)
                one, took_one, *_ = tool(program, command, 2)
                found[name] = (statistics.median(times), took - took_one - (sum(times) - sum(one)))
            ratios.append(found["ours"][0] / found["theirs"][0])
            overheads.append([found[k][1] / (RUNS - 2) for k in ("ours", "theirs")])
        rows.append({
            "command": command,
            "ratio of medians": statistics.median(ratios),
            "quartiles": quartiles(ratios),
            "overhead of a run, s": [statistics.median(o[i] for o in overheads) for i in (0, 1)],
        })  # fmt: skip
        print(f"{command[:40]:40} {statistics.median(ratios):.3f} {quartiles(ratios)} "
              f"{1e3 * rows[-1]['overhead of a run, s'][0]:.3f} ms, {1e3 * rows[-1]['overhead of a run, s'][1]:.3f} ms", flush=True)
    for n in OF_TIME:
        command = COMMANDS[n]
        _, _, found = greenup(ours, command, 15)
        theirs_ = [gnu_time(gnu, command) for _ in range(15)]
        both = [
            [statistics.median(found[key]), statistics.median(t[i] for t in theirs_)]
            for i, key in enumerate(("peak_memory_bytes", "context_switches"))
        ]
        memory.append({"command": command, "memory, bytes": both[0], "context switches": both[1]})
        print(f"{command[:40]:40} memory {both[0]} switches {both[1]}", flush=True)
    with open(out, "w") as f:
        json.dump({"runs": RUNS, "rounds": rounds, "times": rows, "gnu time": memory}, f, indent=1)


if __name__ == "__main__":
    main()
