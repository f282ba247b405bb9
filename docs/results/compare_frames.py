#!/usr/bin/env python3
"""What a user sees of two builds: flags of all commands, keys of JSON results, sections of pages.

compare_frames.py BEFORE AFTER   (folders with the programs), in the root of the repository

Prints every flag, key or section that one build has and the other lacks, and the numbers of those that both have.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

FOLDERS = [os.path.abspath(p) for p in sys.argv[1:3]]
PROGRAMS = ["greenup", "hydro", "gisaxs", "fmm", "greenup-paper", "greenup-scaling"]
CELL = "apps/gisaxs/examples/unit_cell.toml"
TITAN = ["--machine", "gtx-titan"]
JSON = {
    "machines": ["greenup", "machines", "--json"],
    "machine": ["greenup", "machines", "gtx-titan", "--json"],
    "predict": ["greenup", "predict", *TITAN, "--op", "f32=1e12", "--op", "dram=1e11", "--json"],
    "counters": ["greenup", "predict", "--machine", "h200", "--from-counters", "sweeps/dgemm_h200", "--json"],
    "cluster": ["greenup", "whatif", "cluster", *TITAN, "--of", "arndale-gpu", "--json"],
    "fit": ["greenup", "fit", "docs/results/data/host/records.csv", "--json"],
    "space": ["greenup", "space", "spaces/beast_dgemm_k20x.toml", "--json"],
    "sweep": ["greenup", "sweeps", "show", "sweeps/dgemm_h200", "--json"],
    "best": ["greenup", "best", "sweeps/dgemm_h200", "--format", "json"],
    "replay": ["greenup", "replay", "sweeps/dgemm_h200", "--strategy", "random", "--seeds", "3", "--json"],
    "explain": ["greenup", "explain", "--json"],
    "wisdom": ["greenup", "wisdom", "list", "--json"],
    "run": ["greenup", "run", "--runs", "3", "--json", "--", "true"],
    "hydro run": ["hydro", "run", "--steps", "2", "--json"],
    "hydro study": ["hydro", "study", "--dim", "1", "--intervals", "8", "--orders", "2", "--window", "0.2", "--json"],
    "hydro problems": ["hydro", "list", "--json"],
    "gisaxs simulate": ["gisaxs", "simulate", CELL, "-o", "OUT/cell.npy", "--json"],
    "fmm run": ["fmm", "run", "-n", "2000", "--json"],
    "fmm study": ["fmm", "study", "--device", "cpu", "--first", "1", "--scale", "0.02", "--quick", "--no-counters",
                  "-o", "OUT/fmm", "--json"],
    "scaling": ["greenup-scaling", "hydro", "--published", "--json"],
}
PAGES = {
    "analysis": (["greenup", "analyze", "sweeps/dgemm_h200", "--out", "OUT/analysis"], "analysis/report.html"),
    "explained": (["greenup", "explain", "-o", "OUT/explain.html"], "explain.html"),
    "scattering": (["gisaxs", "simulate", CELL, "-o", "OUT/cell.html"], "cell.html"),
    "hydro study": (["hydro", "study", "--dim", "1", "--intervals", "8", "--orders", "2", "--window", "0.2",
                     "-o", "OUT/hydro.json"], "hydro.html"),
    "paper": (["greenup-paper", "slides", "--out", "OUT/paper"], "paper/index.html"),
}


def run(folder, words, out):
    words = [w.replace("OUT", out) for w in words]
    return subprocess.run([os.path.join(folder, words[0]), *words[1:]], capture_output=True, text=True)


def commands(folder, words):
    """All commands below one, each with its flags."""
    text = run(folder, [*words, "--help"], "").stdout
    found = {" ".join(words): set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))}
    for listed in re.findall(r"^[A-Z].*:\n((?:  [a-z][\w-]* .*\n(?: {8,}.*\n)*)+)", text, re.M):
        for name in re.findall(r"^  ([a-z][\w-]*) ", listed, re.M):
            if name != "help" and len(words) < 4:
                sub = run(folder, [*words, name, "--help"], "")
                if sub.returncode == 0 and "Usage:" in sub.stdout:
                    found |= commands(folder, [*words, name])
    return found


def keys(value, at=""):
    if isinstance(value, dict):
        # Names of configs, kernels and machines are no keys.
        return set().union(*(keys(v, f"{at}.{k}") for k, v in value.items()), {at})
    if isinstance(value, list):
        return set().union(*(keys(v, f"{at}[]") for v in value), {at})
    return {at}


def compare(what, sets, totals):
    for mark, some in (("-", sets[0] - sets[1]), ("+", sets[1] - sets[0])):
        for item in sorted(some):
            print(f"{mark} {what}: {item}")
    totals.append(len(sets[0] & sets[1]))


with tempfile.TemporaryDirectory() as work:
    outs = [os.path.join(work, n) for n in ("before", "after")]
    for out in outs:
        os.mkdir(out)
    totals = {"commands and flags": [], "keys of JSON results": [], "headings and columns of pages": []}
    for program in PROGRAMS:
        both = [commands(f, [program]) for f in FOLDERS]
        compare(program, [{f"{c} {flag}" for c, flags in b.items() for flag in [*flags, ""]} for b in both],
                totals["commands and flags"])
    for name, words in JSON.items():
        found = []
        for folder, out in zip(FOLDERS, outs):
            r = run(folder, words, out)
            try:
                found.append(keys(json.loads(r.stdout)))
            except ValueError:
                sys.exit(f"{' '.join(words)} of {folder}: {r.stderr}{r.stdout[:200]}")
        compare(f"JSON of {name}", found, totals["keys of JSON results"])
    for name, (words, file) in PAGES.items():
        found = []
        for folder, out in zip(FOLDERS, outs):
            r = run(folder, words, out)
            path = os.path.join(out, file)
            if not os.path.exists(path):
                sys.exit(f"{' '.join(words)} of {folder}: {r.stderr}")
            with open(path) as f:
                text = f.read()
            found.append(set(re.findall(r"<h[12]>.*?</h[12]>|<th .*?</th>|<caption>.*?</caption>", text)))
        compare(f"page of {name}", found, totals["headings and columns of pages"])
    for what, n in totals.items():
        print(f"{what}: {sum(n)} in both")
