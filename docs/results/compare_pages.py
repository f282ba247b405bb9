#!/usr/bin/env python3
"""Compares the pages and figures of two builds: weight, time in the command, time to render in Chromium.

Usage: docs/results/compare_pages.py BEFORE AFTER ROUNDS, with the two programs `greenup`, in the root of the repository.
Rounds are interleaved. The time to render is that from the start of a frame to its load event, scripts included.
"""
import html
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

MACHINES = ["--machine", "gtx-titan", "--machine", "arndale-gpu", "--machine", "xeon-phi"]
FIGURES = {
    "roofline of three machines": ["roofline", *MACHINES, "-o", "OUT.png"],
    "map of machines": ["machines", "--map", "-o", "OUT.png"],
}
PAGES = {
    "sweep of 1,429 configs": (["analyze", "sweeps/dgemm_h200", "--out", "OUT"], "OUT/report.html"),
    "energy of four applications": (["explain", "-o", "OUT.html"], "OUT.html"),
}


def run(program, args, out):
    started = time.perf_counter()
    words = [a.replace("OUT", str(out)) for a in args]
    subprocess.run([program, *words], check=True, capture_output=True)
    return time.perf_counter() - started


def rendered(page, folder):
    """Milliseconds from the start of a frame to its load."""
    frame = folder / "frame.html"
    frame.write_text(
        "<!doctype html><body><script>const f = document.createElement('iframe'), t = performance.now();"
        "f.width = 1280; f.height = 900;"
        "f.onload = () => document.title = 'load ' + (performance.now() - t);"
        f"f.src = '{html.escape(page.as_uri())}'; document.body.append(f);</script>"
    )
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", frame.as_uri()]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"<title>load ([\d.]+)", text)[1])


def row(name, unit, values):
    before, after = (statistics.median(v) for v in values)
    ratios = sorted(b / a for a, b in zip(*values))
    lo, hi = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    print(f"{name}: {before:.4g} {unit} before, {after:.4g} {unit} after, ratio {statistics.median(ratios):.3f} [{lo:.3f} … {hi:.3f}]", flush=True)


def main():
    programs, rounds = sys.argv[1:3], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, args in FIGURES.items():
            times = [[], []]
            for _ in range(rounds + 1):
                for k, program in enumerate(programs):
                    times[k].append(run(program, args, folder / f"figure{k}"))
                    # Files that a command made once are not replaced unasked.
                    (folder / f"figure{k}.png").rename(folder / f"last{k}.png")
            row(f"{what}, PNG", "s", [t[1:] for t in times])
        for what, (args, page) in PAGES.items():
            files = []
            for k, program in enumerate(programs):
                out = folder / f"{args[0]}{k}"
                run(program, args, out)
                files.append(pathlib.Path(page.replace("OUT", str(out))))
            weights = [f.stat().st_size / 1e6 for f in files]
            print(f"{what}, page: {weights[0]:.3f} MB before, {weights[1]:.3f} MB after")
            times = [[], []]
            for _ in range(rounds + 1):
                for k, file in enumerate(files):
                    times[k].append(rendered(file, folder))
            row(f"{what}, page rendered", "ms", [t[1:] for t in times])


if __name__ == "__main__":
    main()
