#!/usr/bin/env bash
# Ranks of hydro on idle cores, one computing thread a rank: cost of the layer, strong and weak scaling, cost of sums without
# rounding, a busy loop beside. For weak scaling the domain grows with the ranks, so that zones stay cubes of one size: zones of
# another shape take more CG iterations. Takes the folder of the binaries; writes $OUT/hydro_ranks.jsonl (every run) and
# $OUT/hydro_ranks.txt (the table). MPI is used if `mpirun` is in PATH, else ranks are threads (`--ranks N`). At most 3 minutes.
set -u
bin=${1:?usage: ranks.sh FOLDER_OF_BINARIES}
: "${OUT:=target/hydro_ranks}"; mkdir -p "$OUT"
export HYDRO=$bin/hydro OUT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$OUT/cache}
chmod +x "$HYDRO" 2>/dev/null
lscpu | grep -E "^(Model name|CPU\(s\)|Thread|NUMA node\(s\))"
uptime
python3 - <<'PY' | tee "$OUT/hydro_ranks.txt"
import json, os, shutil, statistics as st, subprocess, sys, time

begin, hydro, out = time.time(), os.environ["HYDRO"], os.environ["OUT"]
BUDGET = float(os.environ.get("BUDGET", 165))
cores = sorted(os.sched_getaffinity(0))
# One hardware thread of each core.
seen, first = set(), []
for c in cores:
    try:
        with open(f"/sys/devices/system/cpu/cpu{c}/topology/thread_siblings_list") as f:
            key = f.read().strip()
    except OSError:
        key = c
    if key not in seen:
        seen.add(key)
        first.append(c)
cores = first
log = open(os.path.join(out, "hydro_ranks.jsonl"), "w", buffering=1)
mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
kinds = ["threads"] + (["mpi"] if mpirun else [])
MPI = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if mpirun and "Open" in subprocess.run(
    [mpirun, "--version"], capture_output=True, text=True).stdout else []

def cubes(counts):
    """A mesh file of cubes of side 1/12, as many along x, y and z as `counts` says, with walls around."""
    path = os.path.join(out, "cubes_" + "x".join(map(str, counts)) + ".mesh")
    lines = [n + 1 for n in counts]
    at = lambda i, j, k: i + lines[0] * (j + lines[1] * k)
    box = lambda n: [(i, j, k) for k in range(n[2]) for j in range(n[1]) for i in range(n[0])]
    zones = [[at(i + a, j + b, k + c) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))] for i, j, k in box(counts)]
    walls = []
    for d in range(3):
        e, f = [x for x in range(3) if x != d]
        for side in (0, counts[d]):
            for u in range(counts[e]):
                for v in range(counts[f]):
                    corner = [0, 0, 0]
                    corner[d] = side
                    nodes = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        corner[e], corner[f] = u + a, v + b
                        nodes.append(at(*corner))
                    walls.append((d + 1, nodes))
    with open(path, "w") as f:
        print("MFEM mesh v1.0\n\ndimension\n3\n\nelements", len(zones), sep="\n", file=f)
        for z in zones:
            print(1, 5, *z, file=f)
        print("\nboundary", len(walls), sep="\n", file=f)
        for number, nodes in walls:
            print(number, 3, *nodes, file=f)
        print("\nvertices", lines[0] * lines[1] * lines[2], 3, sep="\n", file=f)
        for v in box(lines):
            print(*(x / 12 for x in v), file=f)
    return path

def run(kind, ranks, mesh, steps, extra=(), busy=0):
    """Report of a run on as many cores as ranks; None without the time for it."""
    if time.time() - begin > BUDGET:
        return None
    own = cores[:max(ranks, 1)]
    cmd = ["taskset", "-c", ",".join(map(str, own))]
    if kind == "mpi":
        cmd += [mpirun, *MPI, "-np", str(ranks)]
    cmd += [hydro, "run", "--problem", "1", "--mesh", mesh, "--refine", "0", "--order", "2", "--steps", str(steps),
            "--t-final", "10", "--json", "--threads", str(ranks if kind == "threads" else 1), *extra]
    if kind == "threads":
        cmd += ["--ranks", str(ranks)]
    loops = [subprocess.Popen(["taskset", "-c", str(own[0]), sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        p = subprocess.run(cmd, capture_output=True, text=True, timeout=100)
    finally:
        for l in loops:
            l.kill()
            l.wait()
    try:
        r = json.loads(p.stdout)
    except ValueError:
        print("FAILED", " ".join(cmd), p.stderr[-500:])
        return None
    # The record names mesh files without this host's folders.
    record = json.dumps({"kind": kind, "ranks": ranks, "mesh": mesh, "busy": busy, "extra": list(extra), "report": r})
    log.write(record.replace(out + os.sep, "") + "\n")
    return r

def alike(r, one):
    """Seconds of the steps of a run with as many evaluations and CG iterations as another."""
    t, u = r["timings"], one["timings"]
    solve = t["solve_s"]
    return (r["wall_s"] - solve) * u["evaluations"] / t["evaluations"] + solve * u["iterations"] / t["iterations"]

def digits(kind):
    """Steps, time step and energies are those of one rank; with --reproducible to the bit."""
    bad = 0
    for extra in ([], ["--reproducible"]):
        keys = ["steps", "dt", "internal", "kinetic", "e_norm"]
        one = None
        for ranks in (1, 2, 3, 4, 8):
            if ranks > len(cores):
                continue
            cmd = [hydro, "run", "--problem", "1", "--mesh", "8x8x8", "--refine", "0", "--order", "2", "--steps", "20", "--json",
                   "--threads", str(ranks if kind == "threads" else 1), *extra]
            cmd = cmd + ["--ranks", str(ranks)] if kind == "threads" else [mpirun, *MPI, "-np", str(ranks)] + cmd
            p = subprocess.run(cmd, capture_output=True, text=True, timeout=100)
            r = json.loads(p.stdout)
            got = [r[k] for k in keys]
            one = one or got
            same = got == one if extra else all(abs(a - b) <= 1e-12 * max(1, abs(a)) for a, b in zip(one, got))
            bad += not same
            if not same:
                print("DIFFERS", kind, ranks, extra, one, got)
    print(f"digits, {kind}: {'same' if not bad else f'{bad} DIFFER'}")
    return bad

def rounds(cases, n, limit):
    """Interleaved rounds of cases; for each its reports."""
    times, until = {k: [] for k in cases}, time.time() + limit
    for round in range(n):
        for k, c in cases.items():
            if time.time() > until and round:
                break
            r = run(*c)
            if r is not None:
                times[k].append(r)
    return times

def seconds(reports):
    return {k: [r["wall_s"] for r in x] for k, x in reports.items()}

def show(name, a, b, scale=1.0, target=""):
    """Ratio of times round by round: median, least, greatest."""
    r = sorted(scale * x / y for x, y in zip(a, b))
    if r:
        print(f"  {name:<52}{st.median(r):8.3f}  [{r[0]:.3f}, {r[-1]:.3f}] of {len(r)}  {target}", flush=True)

bad = sum(digits(k) for k in kinds)
BOX, N = "16x16x16", 6
for kind in kinds:
    share = BUDGET / len(kinds)
    print(f"{kind}: seconds of {N} steps, {BOX} zones, order 2; ratios: median [least, greatest]", flush=True)
    # `one` is the run without the layer.
    plain = ("one", 1, BOX, N)
    layer = (kind, 1, BOX, N)
    t = seconds(rounds({"plain": plain, "layer": layer, "2": (kind, 2, BOX, N), "exact 1": (kind, 1, BOX, N, ["--reproducible"]),
                "exact 2": (kind, 2, BOX, N, ["--reproducible"])}, 5, share * 0.4))
    for k, x in t.items():
        if x:
            print(f"  {k:<52}{st.median(x):8.3f} s")
    show("cost of the layer, one rank", t["layer"], t["plain"], target="target <= 1.02 (mpi: mpirun -np 1)")
    show("strong scaling 1 -> 2", t["plain"], t["2"], target="target >= 1.8")
    show("cost of exact sums, one rank", t["exact 1"], t["layer"], target="target <= 1.15")
    show("cost of exact sums, two ranks", t["exact 2"], t["2"], target="target <= 1.15")
    many = [n for n in (4, 8, 16) if n <= len(cores)]
    if many:
        t = seconds(rounds({"1": layer, **{str(n): (kind, n, BOX, N) for n in many}}, 3, share * 0.15))
        for n in many:
            show(f"strong scaling 1 -> {n}", t["1"], t[str(n)])
    weak = {1: (12, 12, 12), 2: (24, 12, 12), 4: (24, 24, 12), 8: (24, 24, 24), 16: (48, 24, 24)}
    weak = {n: cubes(m) for n, m in weak.items() if n <= len(cores)}
    w = rounds({str(n): (kind, n, m, N) for n, m in weak.items()}, 5, share * 0.2)
    t = seconds(w)
    for n in list(weak)[1:]:
        show(f"weak scaling 1 -> {n}, 1728 zones a rank", t["1"], t[str(n)], target="target >= 0.90" if n == 2 else "")
        if w[str(n)]:
            counts = lambda r: (r["timings"]["evaluations"], round(r["timings"]["iterations"], 1))
            same = [alike(r, w["1"][0]) for r in w[str(n)]]
            show("  the same number of evaluations and CG iterations", t["1"], same)
            print(f"    evaluations, CG iterations: {counts(w['1'][0])} and {counts(w[str(n)][0])}")
    if len(cores) > 1:
        t = seconds(rounds({"idle": (kind, 2, "12x12x12", N), "busy": (kind, 2, "12x12x12", N, [], 1)}, 2, share * 0.1))
        show("two ranks, a busy loop on one of their cores", t["busy"], t["idle"], target="ends")
print(f"{time.time() - begin:.0f} s")
sys.exit(bool(bad))
PY
exit "${PIPESTATUS[0]}"
