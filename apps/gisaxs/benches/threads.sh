#!/usr/bin/env bash
# gisaxs on the cores of a host: scaling over threads, and processes x threads x pinning. Usage: threads.sh BIN_DIR (with the
# binary gisaxs). Writes raw output to $OUT and prints tables. Needs python3, and for several processes mpirun (Open MPI or MPICH; $MPIRUN).
# PART: scaling, affinity, or both. SECONDS_OF_AFFINITY: no new run after that many (default 60). SIZE: q along y and z of
# the affinity runs (default 1000:1000). CPUS: CPUs to use at most.
set -u
bin=$(cd "$1" && pwd)/gisaxs
: "${OUT:=target/gisaxs_threads}"; mkdir -p "$OUT"; OUT=$(cd "$OUT" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$work/cache} XDG_DATA_HOME=$work/data
cd "$work" || exit 1
lscpu > "$OUT/lscpu.txt"; grep -E '^(Model name|CPU\(s\)|Thread|Core|Socket|NUMA)' "$OUT/lscpu.txt"
exec python3 - "$bin" "$OUT" "${PART:-scaling affinity}" <<'PY'
import json, math, os, shutil, statistics, subprocess, sys, time

gisaxs, out = sys.argv[1:3]
part = set(sys.argv[3].replace(",", " ").split())
unknown = part - {"scaling", "affinity"}
if unknown or not part: sys.exit(f"unknown PART {' '.join(unknown)}")
begin, failed = time.time(), []
ORDERS = ["none", "compact", "balanced", "scatter"]
cpus = len(os.sched_getaffinity(0))
cpus = min(cpus, int(os.environ.get("CPUS", cpus)))

def ran(command, limit):
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        if p.returncode == 0: return p.stdout
        why = (p.stderr or p.stdout)[-300:]
    except subprocess.TimeoutExpired: why = f"longer than {limit} s"
    except OSError as e: why = str(e)
    failed.append(" ".join(command))
    print("FAILED", " ".join(command), why, flush=True)

# Scaling over threads: one process, interleaved rounds.
if "scaling" in part:
    text = ran([gisaxs, "study", "--scaling", "--method", "direct", "--threads", str(cpus), "--pin", "balanced",
                "--rounds", os.environ.get("ROUNDS", "3"), "-o", os.path.join(out, "threads.json")], 200)
    if text: print(text, f"[{time.time()-begin:.0f} s]", flush=True)

# Processes x threads x pinning: each process a share of q_z, all start together.
def ball(name, rows, columns, r=10.0):
    with open(name, "w") as f:
        f.write(f"v 0 0 {2*r}\n")
        for i in range(1, rows):
            s, c = math.sin(math.pi*i/rows), math.cos(math.pi*i/rows)
            f.writelines(f"v {r*s*math.cos(2*math.pi*j/columns):.12g} {r*s*math.sin(2*math.pi*j/columns):.12g} {r*(1+c):.12g}\n"
                         for j in range(columns))
        f.write("v 0 0 0\n")
        last, at = 2 + (rows-1)*columns, lambda i, j: 2 + (i-1)*columns + j % columns
        for j in range(columns):
            f.write(f"f 1 {at(1,j)} {at(1,j+1)}\n")
            for i in range(1, rows-1):
                f.write(f"f {at(i,j)} {at(i+1,j)} {at(i+1,j+1)}\nf {at(i,j)} {at(i+1,j+1)} {at(i,j+1)}\n")
            f.write(f"f {at(rows-1,j)} {last} {at(rows-1,j+1)}\n")

if "affinity" in part:
    ball("ball.obj", 56, 60)    # 6,600 triangles
    open("shape.toml", "w").write('shape = "mesh"\nfile = "ball.obj"\n')
    ny, nz = os.environ.get("SIZE", "1000:1000").split(":")
    mpirun = os.environ.get("MPIRUN") or shutil.which("mpirun")
    version = ran([mpirun, "--version"], 20) if mpirun else ""
    start = [mpirun] + (["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if "Open MPI" in (version or "") else []) + ["-n"]
    limit = time.time() + float(os.environ.get("SECONDS_OF_AFFINITY", "60"))
    counts = [1 << k for k in range(20) if 1 << k <= cpus]
    if cpus not in counts: counts.append(cpus)
    pairs = [(p, t) for p in counts for t in counts if p * t <= cpus and (mpirun or p == 1)]
    # All CPUs first, then half of them, and so on.
    pairs.sort(key=lambda x: (-x[0] * x[1], x[0]))
    rows, digits = {}, set()
    full = [(p, t, o) for p, t in pairs if p * t == max(a * b for a, b in pairs) for o in ORDERS]
    rest = [(p, t, o) for p, t in pairs for o in ORDERS if (p, t, o) not in full]
    for p, t, order in full * 2 + rest + full:
        if time.time() > limit: break
        # F of all goes to a file; only its time counts.
        work = [gisaxs, "form-factor", "shape.toml", "--grid", "0", f"-2:2:{ny}", f"0:2.5:{nz}", "--im-qz", "0.01", "--method", "direct",
                "--precision", "f32", "--quadrature", "one", "--accuracy", "1e-3", "--repeat", "3", "--threads", str(t), "--pin", order,
                "-o", "f.npy", "--json"]
        text = ran((start + [str(p)] if p > 1 else []) + work, 60)
        if not text: continue
        j = json.loads(text.strip().splitlines()[-1])
        if j["ranks"] != p: sys.exit(f"{j['ranks']} ranks instead of {p}: the launcher is not of the MPI library in LD_LIBRARY_PATH")
        with open("f.npy", "rb") as f: digits.add(hash(f.read()))
        rows.setdefault((p, t, order), []).append(j["evaluation_s"])
    all_s = [min(s) for s in rows.values()]
    record = {"device": next((l.split(":")[1].strip() for l in open(os.path.join(out, "lscpu.txt")) if l.startswith("Model name")), ""),
              "cpus": cpus, "triangles": 6600, "points": int(ny) * int(nz), "launcher": (version or "").splitlines()[:1],
              "command": "PART=affinity apps/gisaxs/benches/threads.sh BIN_DIR", "same_bits": len(digits) == 1,
              "rows": [{"processes": p, "threads": t, "cpus": p * t, "pin": o, "runs_s": s, "time_s": statistics.median(s)}
                       for (p, t, o), s in rows.items()]}
    json.dump(record, open(os.path.join(out, "affinity.json"), "w"), indent=1)
    print("processes threads " + "".join(f"{o:>25}" for o in ORDERS) + "   s, median [shortest-longest]")
    for p, t in pairs:
        cell = lambda s: f"{statistics.median(s):.4f} [{min(s):.4f}-{max(s):.4f}]" if s else "-"
        if any((p, t, o) in rows for o in ORDERS):
            print(f"{p:9} {t:7} " + "".join(f"{cell(rows.get((p, t, o))):>25}" for o in ORDERS))
    print("same bits" if record["same_bits"] else "DIFFERENT bits", f"[{time.time()-begin:.0f} s]", flush=True)
    if not record["same_bits"]: failed.append("bits differ")
sys.exit(f"FAILED: {'; '.join(failed)}" if failed else 0)
PY
