#!/usr/bin/env bash
# The experiments of the BLAST paper that need a GPU and the cores of its host: tables 5, 6 and 7, figures 11 and 15. Run in the
# repository root with the folder of the binaries: `blast.sh BIN`. Writes $OUT/blast/: every study and run as JSON, the GPU's
# power over time as power.csv, and blast.json with what happened when. At most BUDGET seconds (260). PART=cpu measures what
# needs no GPU: tables 1 and 6.
set -u
bin=${1:-target/release}
export HYDRO=$bin/hydro GREENUP=$bin/greenup
: "${OUT:=target}"; export OUT=$OUT/blast; mkdir -p "$OUT"
if [ -z "${GREENUP_CUDA:-}" ] && [ "${PART:-gpu}" = gpu ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=$(dirname "$lib")
fi
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$OUT/cache}
chmod +x "$HYDRO" "$GREENUP" 2>/dev/null
exec python3 - <<'PY'
import json, os, shutil, subprocess, sys, threading, time

begin, out, hydro, greenup = time.time(), os.environ["OUT"], os.environ["HYDRO"], os.environ["GREENUP"]
BUDGET = float(os.environ.get("BUDGET", 260))
G0, G1 = os.environ.get("G0", "cuda:0"), os.environ.get("G1", "cuda:1")
THREADS = os.environ.get("THREADS", str(len(os.sched_getaffinity(0))))
WINDOW = os.environ.get("WINDOW", "2")
SMALL = float(os.environ.get("SMALL", 1))    # divides the sizes, to try the script
log, lock, bad = {"events": []}, threading.Lock(), []

def left():
    return BUDGET - (time.time() - begin)

def save():
    with lock, open(os.path.join(out, "blast.json"), "w") as f:
        json.dump(log, f, indent=1)

def run(name, words, limit=60, capture=True):
    """One command; its standard output as text. Times of its start and end are kept."""
    limit = min(limit, left() - 1)
    if limit < 4:
        print(f"{name}: no time left", flush=True)
        return None
    start = time.time()
    p = subprocess.run(["timeout", "-k", "3", str(int(limit))] + words, capture_output=True, text=True)
    event = {"name": name, "command": " ".join(words), "from_s": start - begin, "to_s": time.time() - begin, "rc": p.returncode}
    with lock:
        log["events"].append(event)
    print(f"{start - begin:6.1f} s {name}: {event['to_s'] - event['from_s']:.1f} s, exit {p.returncode}", flush=True)
    if p.returncode:
        bad.append(name)
        print(p.stderr[-400:], flush=True)
    save()
    return p.stdout

def report(name, words, limit=60, head=()):
    """A run of hydro; its JSON goes to NAME.json."""
    text = run(name, list(head) + [hydro, "run", "--json"] + words, limit) or ""
    try:
        # A launcher may print more.
        r = json.loads(text[text.index("{"):])
    except ValueError:
        return None
    with open(os.path.join(out, name + ".json"), "w") as f:
        json.dump(r, f)
    return r

def study(name, device, intervals, orders, assembly="partial", work="step", extra=(), limit=60):
    n = str(max(4, round(intervals / SMALL)))
    words = [hydro, "study", "--device", device, "--intervals", n, "--orders", orders, "--work", work, "--window", WINDOW]
    words += ["--assembly", assembly] if assembly else []
    text = run(name, words + list(extra) + ["-o", os.path.join(out, name + ".json")], limit)
    print(text or "", flush=True)

def cube(n):
    return "x".join([str(max(2, round(n / SMALL)))] * 3)

def digits():
    """The same digits on both devices first."""
    words = ["--problem", "1", "--mesh", "cube01_hex", "--refine", "1", "--steps", "20", "--t-final", "10", "--cg-tol", "1e-13"]
    a, b = report("digits_cpu", words + ["--threads", "4"]), report("digits_gpu", words + ["--device", G0])
    off = abs(a["e_norm"] / b["e_norm"] - 1) if a and b else float("inf")
    print(f"digits: |e| differs by {off:.1e}", flush=True)
    if off > 1e-10:
        bad.append("digits")

def triple(device, refines, threads):
    """Table 6: the triple point with Q3Q2 and RK2Avg to t = 0.6."""
    for r in refines:
        t = report(f"table6_{device.split(':')[0]}_{r}", ["--problem", "3", "--mesh", "rectangle01_quad", "--refine", str(r), "--order",
            "3", "--t-final", "0.6", "--ode", "rk2avg", "--device", device] + (["--threads", threads] if device == "cpu" else []),
            limit=110)
        if t:
            print(f"  refine {r}: {t['zones']} zones, {t['steps']} steps: kinetic {t['kinetic']:.13e} internal "
                  f"{t['internal']:.13e} drift {t['energy_drift']:.3e}; {t['wall_s']:.1f} s", flush=True)

def table1():
    """Table 1: shares of corner force and solver on one core, three interleaved rounds."""
    cases = [("square01_quad", 4, 4, 20), ("square01_quad", 4, 3, 40), ("cube01_hex", 2, 2, 20)]
    rows = []
    for k in range(3):
        for mesh, refine, order, steps in cases:
            for assembly in ("full", "partial"):
                r = report("table1", ["--problem", "1", "--mesh", mesh, "--refine", str(refine), "--order", str(order), "--t-final",
                    "10", "--steps", str(steps), "--assembly", assembly, "--cg-tol", "1e-8", "--threads", "1"], limit=200)
                if r:
                    t = r["timings"]
                    rows.append({"round": k, "mesh": mesh, "refine": refine, "order": order, "steps": steps, "assembly": assembly,
                                 "zones": r["zones"], "unknowns": r["unknowns"], "wall_s": r["wall_s"],
                                 "corner_s": t["stress_s"] + t["force_s"], "solve_s": t["solve_s"], "other_s": r["wall_s"]
                                 - t["stress_s"] - t["force_s"] - t["solve_s"], "provenance": r["provenance"]})
    with open(os.path.join(out, "table1.json"), "w") as f:
        json.dump(rows, f, indent=1)

def balance():
    """Table 5: the share of the zones on the GPU that balances both, in 2D, and steps at fixed shares around it."""
    side = str(max(8, round(256 / SMALL)))
    refine = "5" if SMALL == 1 else "2"
    cases = {"sedov": ["--problem", "1", "--mesh", f"{side}x{side}", "--refine", "0", "--order", "2"],
             "triple": ["--problem", "3", "--mesh", "rectangle01_quad", "--refine", refine, "--order", "2"]}
    for name, words in cases.items():
        words = words + ["--t-final", "10", "--cg-tol", "1e-8"]
        r = report(f"table5_{name}", words + ["--device", G0 + "+cpu", "--period", "10", "--steps", "200"], limit=30)
        print("\n".join((r or {}).get("messages", [])), flush=True)
        for share in ("0.75", "0.9", "0.99"):
            report(f"table5_{name}_{share}", words + ["--device", G0 + "+cpu", "--share", share, "--steps", "40"], limit=20)
        report(f"table5_{name}_gpu", words + ["--device", G0, "--steps", "60"], limit=20)

def sharing():
    """Figure 15: the six scenarios, and processes that share a GPU without a server that joins their contexts."""
    # 1, 2: full and partial assembly, whole steps; 3 and 6: corner force and solver alone.
    study("fig15_q2", G0, 32, "2", assembly=None, work="step,corner,solve")
    study("fig15_q4", G0, 64, "4", work="step,corner,solve")
    # Corner force alone by several processes, each with its part of the zones: 16^3 of both orders, and 32^3 of Q2Q1.
    for tag, order, parts in (("q2", 2, {1: 16, 2: 13, 4: 10, 8: 8}), ("q4", 4, {8: 8}), ("q2_large", 2, {1: 32, 8: 16})):
        for n, side in parts.items():
            names = [f"fig15_{tag}_{n}_processes_{k}" for k in range(n)]
            lanes = [threading.Thread(target=study, args=(name, G0, side * order, str(order)),
                                      kwargs={"work": "corner", "extra": ("--threads", "1"), "limit": 40}) for name in names]
            [t.start() for t in lanes]
            [t.join() for t in lanes]
    # Whole steps by ranks that share a GPU.
    mpi = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    for n in (1, 2, 4, 8):
        words = ["--problem", "1", "--mesh", cube(32), "--refine", "0", "--order", "2", "--t-final", "10", "--steps", "150", "--cg-tol",
                 "1e-8", "--device", G0]
        head = [mpi, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(n)]
        if not (mpi and report(f"fig15_ranks_{n}", words, limit=20, head=head)):
            # Without MPI the ranks are threads of one process.
            report(f"fig15_thread_ranks_{n}", words + ["--ranks", str(n)], limit=20)

def power():
    """Board power of all GPUs, ten times a second, until the end."""
    if not shutil.which("nvidia-smi"):
        return None
    log["power_begin_s"] = time.time() - begin
    f = open(os.path.join(out, "power.csv"), "w")
    return subprocess.Popen(["nvidia-smi", "--query-gpu=timestamp,index,power.draw.instant,power.draw.average,clocks.sm,utilization.gpu",
                             "--format=csv,noheader,nounits", "-lms", "100"], stdout=f)

log["began"] = time.time()
log["threads"] = THREADS
if os.environ.get("PART") == "cpu":
    BUDGET = float(os.environ.get("BUDGET", 3000))
    table1()
    triple("cpu", (1, 2, 3, 4), os.environ.get("THREADS", "2"))
else:
    if shutil.which("nvidia-smi"):
        log["gpus"] = subprocess.run(["nvidia-smi", "--query-gpu=index,name,driver_version,power.limit,compute_mode", "--format=csv,noheader"],
                                     capture_output=True, text=True).stdout.splitlines()
    log["cpu"] = [l for l in subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
                  if l.startswith(("Model name", "CPU(s)", "Thread", "Core", "Socket", "L3"))]
    print(log.get("gpus"), log["cpu"], flush=True)
    log["doctor"] = (run("doctor", [greenup, "doctor"], limit=15) or "")[:3000]
    digits()
    meter = power()
    # All cores: nothing else runs.
    cores = ("--threads", THREADS)
    study("cpu_q2", "cpu", 32, "2", extra=cores)
    study("cpu_q4", "cpu", 64, "4", extra=cores)
    study("cpu_equal", "cpu", 48, "2,4", extra=cores)
    study("gpu_cpu_q2", G0 + "+cpu", 32, "2", extra=cores)
    study("gpu_cpu_q4", G0 + "+cpu", 64, "4", extra=cores)
    balance()
    # Both GPUs at once, with a core or a few each.
    lane = threading.Thread(target=triple, args=(G1, (1, 2, 3, 4, 5), "1"))
    lane.start()
    sharing()
    study("gpu_equal", G0, 48, "2,4")
    lane.join()
    if meter:
        meter.terminate()
save()
shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True) if os.environ["XDG_CACHE_HOME"].startswith(out) else None
print(f"{time.time() - begin:.0f} s; failed: {bad or 'none'}", flush=True)
sys.exit(1 if bad else 0)
PY
