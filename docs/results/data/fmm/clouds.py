#!/usr/bin/env python3
"""Thirty clouds of mixed scales through `fmm run`: the accuracy is met, or the sums are refused.

    clouds.py target/release/fmm [--device cuda] [-n 600] > clouds_cpu.txt

Each cloud is computed in both precisions and compared with direct sums of this script, in double precision with exact
summation (math.fsum). A row: cloud, precision, accuracy, errors of potentials and gradients, or the refusal. The exit code is 1
if any error is above the accuracy, without a refusal. Python's standard library alone.
"""
import argparse
import csv
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ACCURACY = {"f64": 1e-6, "f32": 1e-3}


def clouds(n, rng):
    """Name, points and charges of each cloud."""
    unit = lambda: [[rng.random() for _ in range(3)] for _ in range(n)]
    moved = lambda points, by: [[x + by for x in p] for p in points]
    scaled = lambda points, by: [[x * by for x in p] for p in points]

    def far(points, at):
        return [[at, -at, 0.5 * at]] + points[1:]

    def pairs(gap):
        one = [[rng.random() for _ in range(3)] for _ in range(n // 2)]
        return one + moved(one, gap)

    def clusters(size):
        centers = unit()[: n // 10]
        return [[c + size * rng.random() for c in centers[i // 10]] for i in range(n // 10 * 10)]

    shapes = [
        ("cube", unit()),
        ("far point at 1e4", far(unit(), 1e4)),
        ("far point at 1e8", far(unit(), 1e8)),
        ("far point at 1e30", far(unit(), 1e30)),
        ("far point at 1e150", far(unit(), 1e150)),
        ("offset 1e9", moved(unit(), 1e9)),
        ("1e-3 wide at offset 1e9", moved(scaled(unit(), 1e-3), 1e9)),
        ("pairs 1e-5 apart", pairs(1e-5)),
        ("pairs 1e-9 apart", pairs(1e-9)),
        ("pairs 1e-15 apart", pairs(1e-15)),
        ("clusters of 1e-6", clusters(1e-6)),
        ("clusters of 1e-6, far point", far(clusters(1e-6), 1e3)),
        ("clusters of 1e-3 at offset 1e9", moved(clusters(1e-3), 1e9)),
        ("coincident pairs", pairs(0.0)),
        ("all coincide", [[3.0, 4.0, 5.0]] * n),
        ("line", [[p[0], 0.0, 0.0] for p in unit()]),
        ("plane", [[p[0], p[1], 7.0] for p in unit()]),
        ("line, spacing 1e-9 to 1e-3", [[1e-9 * i * i, 0.0, 0.0] for i in range(n)]),
        ("denormal: 1e-310", scaled(unit(), 1e-310)),
        ("1e-150 wide", scaled(unit(), 1e-150)),
        ("1e150 wide", scaled(unit(), 1e150)),
        ("charges 1e-30 to 1e30", unit()),
        ("charges that cancel to 1e-12", unit()),
        ("charges of 1e-300", unit()),
        ("charges of 1e250", unit()),
        ("halves of the distance to 0", [[x * 0.5 ** (i % 100) for x in p] for i, p in enumerate(unit())]),
        ("two clouds 1e7 apart", [[x + i % 2 * 1e7 for x in p] for i, p in enumerate(unit())]),
        ("lattice", [[float(i % 7), float(i // 7 % 7), float(i // 49)] for i in range(n)]),
        ("1e-20 beside faces of boxes", [[p[0], p[1], 1e-20 * (-1) ** i] for i, p in enumerate(unit())]),
        ("pairs 1e-7 apart, far point", far(pairs(1e-7), 1e6)),
    ]
    for name, points in shapes:
        q = [rng.uniform(-1, 1) for _ in points]
        if name == "coincident pairs":
            q[n // 2 :] = [-x for x in q[: n // 2]]
        if name == "charges 1e-30 to 1e30":
            q = [x * 10.0 ** (i % 60 - 30) for i, x in enumerate(q)]
        if name == "charges that cancel to 1e-12":
            q = [1e12 if i % 2 == 0 else x - 1e12 for i, x in enumerate(q)]
        if name.startswith("charges of "):
            q = [x * float(name.split()[-1]) for x in q]
        yield name, points, q


def direct(points, charges):
    """Potential and gradient at each point."""
    out = []
    for x in points:
        terms = [[], [], [], []]
        for y, q in zip(points, charges):
            d = [a - b for a, b in zip(x, y)]
            r = math.hypot(*d)
            if r > 0:
                p = q / r / (4 * math.pi)
                terms[0].append(p)
                for a in range(3):
                    terms[1 + a].append(-p * (d[a] / r) / r)
        out.append([math.fsum(t) for t in terms])
    return out


def error(want, got, columns):
    """Relative L2 error; infinite for what is not a number."""
    pairs = [(w[c], g[c]) for w, g in zip(want, got) for c in columns]
    if any(not math.isfinite(g) for _, g in pairs):
        return math.inf
    most = max(max(abs(w), abs(g)) for w, g in pairs)
    if most == 0:
        return 0.0
    wrong = math.fsum(((w / most) - (g / most)) ** 2 for w, g in pairs)
    size = math.fsum((w / most) ** 2 for w, _ in pairs)
    return math.sqrt(wrong / size) if size > 0 else math.inf


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("fmm")
    args.add_argument("--device", default="cpu")
    args.add_argument("-n", type=int, default=600)
    args.add_argument("--ncrit", default="20")
    args.add_argument("--extra", default="", help="more arguments for `fmm run`")
    args = args.parse_args()
    bad, counts = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "p.csv", Path(folder) / "out.csv"
        for name, points, charges in clouds(args.n, random.Random(7)):
            with file.open("w") as f:
                f.write("x,y,z,charge\n")
                f.writelines(",".join(repr(v) for v in [*p, q]) + "\n" for p, q in zip(points, charges))
            try:
                want = direct(points, charges)
            except (OverflowError, ValueError):
                # Sums beyond the range of numbers.
                want = None
            for precision, accuracy in ACCURACY.items():
                out.unlink(missing_ok=True)
                words = [args.fmm, "run", "--points", file, "-a", str(accuracy), "--precision", precision, "--gradient"]
                words += ["--ncrit", args.ncrit, "--device", args.device, "-o", out, "--no-wisdom", *args.extra.split()]
                done = subprocess.run(words, capture_output=True, text=True, timeout=600)
                if done.returncode != 0:
                    said = next((l for l in done.stderr.splitlines() if l.startswith("error")), done.stderr.strip())
                    # A crash is no refusal.
                    state = "refused" if done.returncode == 1 and said.startswith("error: ") else "CRASHED"
                    said = f"{state}: {said.removeprefix('error: ')[:110]}"
                else:
                    with out.open() as f:
                        got = [[float(v) for v in row[3:7]] for row in list(csv.reader(f))[1:]]
                    e = [error(want, got, c) for c in ([0], [1, 2, 3])] if want else [math.inf]
                    state = "met" if max(e) <= accuracy else "WRONG"
                    said = f"{state}: " + " ".join(f"{x:.1e}" for x in e)
                bad += state.isupper()
                counts[precision, state] = counts.get((precision, state), 0) + 1
                print(f"{name:<32} {precision} {accuracy:.0e} {said}", flush=True)
    print("; ".join(f"{p} {s}: {c}" for (p, s), c in sorted(counts.items())))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
