"""Interleaved runs of a program with and without `greenup profile`: name, repeats, command."""
import json
import os
import subprocess
import sys
import tempfile
import time

name, repeats, greenup, out, command = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]
with open(f"{out}/overhead_{name}.jsonl", "a") as log:
    for k in range(repeats):
        for how in (["plain", "profiled"] if k % 2 == 0 else ["profiled", "plain"]):
            if how == "plain":
                start = time.perf_counter()
                run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                wall = time.perf_counter() - start
            else:
                with tempfile.TemporaryDirectory() as d:
                    run = subprocess.run([greenup, "profile", "--method", "time", "--out", d + "/p", "--", *command], stdout=subprocess.PIPE, text=True, check=True)
                    wall = json.load(open(d + "/p/profile.json"))["wall_s"]
            loop = next(json.loads(l)["loop_s"] for l in run.stdout.splitlines() if l.startswith("{"))
            line = {"how": how, "wall_s": wall, "loop_s": loop}
            print(name, json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")
            log.flush()
