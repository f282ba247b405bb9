#!/usr/bin/env bash
# The experiments of the BLAST paper that need a GPU and the cores of its host: tables 5, 6 and 7, figures 10 to 13 and 15. Run in the
# repository root with the folder of the binaries: `blast.sh BIN`. Writes $OUT/blast/: every study and run as JSON, the GPU's
# power over time as power.csv, and blast.json with what happened when. At most BUDGET seconds (260). PART=cpu measures what
# needs no GPU: tables 1 and 6. SKIP=balance,second,ranks,scaling leaves these out. PART=summary writes tables of what was
# measured: fig11.json, table5.json, table6.json, sharing.json, scaling.json.
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
import json, os, re, shutil, statistics, subprocess, sys, threading, time

begin, out, hydro, greenup = time.time(), os.environ["OUT"], os.environ["HYDRO"], os.environ["GREENUP"]
BUDGET = float(os.environ.get("BUDGET", 260))
G0, G1 = os.environ.get("G0", "cuda:0"), os.environ.get("G1", "cuda:1")
THREADS = os.environ.get("THREADS", str(len(os.sched_getaffinity(0))))
WINDOW = os.environ.get("WINDOW", "2")
SMALL = float(os.environ.get("SMALL", 1))    # divides the sizes, to try the script
SKIP = os.environ.get("SKIP", "").split(",")
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
            limit=110 if device != "cpu" else 3000)
        if t:
            print(f"  refine {r}: {t['zones']} zones, {t['steps']} steps: kinetic {t['kinetic']:.13e} internal "
                  f"{t['internal']:.13e} drift {t['energy_drift']:.3e}; {t['wall_s']:.1f} s", flush=True)

def scaling():
    """Figures 12 and 13: 512 zones a rank, and 32^3 zones by more and more ranks, a core each; 32^3 zones on one and two GPUs."""
    mpi = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    words = ["--problem", "1", "--refine", "0", "--order", "2", "--t-final", "10", "--cg-tol", "1e-8"]

    def ranks(name, n, more):
        head = [mpi, "--allow-run-as-root", "--bind-to", "core", "-np", str(n)]
        more = more + ["--threads", str(n)]
        if not (mpi and report(f"{name}_ranks_{n}", words + more[:-2] + ["--threads", "1"], limit=25, head=head)):
            report(f"{name}_thread_ranks_{n}", words + more + ["--ranks", str(n)], limit=25)

    for side, n in ((8, 1), (16, 8), (24, 27)):
        ranks("fig12", n, ["--mesh", cube(side), "--steps", "5"])
    for device in (G0, G0.replace(":0", ":0,1")):
        name = device.replace(":", "").replace(",", "_")
        report(f"fig13_{name}", words + ["--mesh", cube(32), "--steps", "100", "--device", device], limit=25)
    for n in (32, 16, 8, 4, 2, 1):
        ranks("fig13", n, ["--mesh", cube(32), "--steps", "3"])

def second():
    """What the second GPU does: figure 10 and table 6."""
    report("fig10", ["--problem", "1", "--mesh", "cube01_hex", "--refine", str(max(0, round(3 / SMALL))), "--order", "2", "--t-final", "0.6",
                     "--device", G1, "--checkpoint", os.path.join(out, "fig10.ckpt"), "--every", "100000"], limit=60)
    triple(G1, (1, 2, 3, 4, 5), "1")

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
                                 "corner_s": t["stress_s"] + t["force_s"], "solve_s": t["solve_s"], "update_s": t["update_s"],
                                 "provenance": r["provenance"]})
    # Shares of what was timed: that has the evaluation of the initial state, before the steps.
    for r in rows:
        parts = r["corner_s"] + r["solve_s"]
        r["total_s"] = max(r["wall_s"], parts + r["update_s"])
        r["other_s"] = r["total_s"] - parts
    cases_all = []
    for mesh, refine, order, steps in cases:
        for assembly in ("full", "partial"):
            own = [r for r in rows if (r["mesh"], r["order"], r["assembly"]) == (mesh, order, assembly)]
            share = lambda key: sorted(r[key] / r["total_s"] for r in own)
            name = f"{'3D' if 'hex' in mesh else '2D'} Q{order}Q{order - 1}"
            row = {"case": name, "assembly": assembly, "zones": own[0]["zones"], "unknowns": own[0]["unknowns"], "steps": steps,
                   "step_s": statistics.median(r["wall_s"] for r in own) / steps}
            for key in ("corner_s", "solve_s", "other_s"):
                all = share(key)
                # Of all rounds together, so that shares add up.
                together = sum(r[key] for r in own) / sum(r["total_s"] for r in own)
                row[key[:-2]] = {"value": together, "lo": all[0], "hi": all[-1]}
            cases_all.append(row)
            print(row, flush=True)
    with open(os.path.join(out, "table1.json"), "w") as f:
        json.dump({"cases": cases_all, "rounds": rows}, f, indent=1)

def last_share(r):
    """Share of the zones on the GPU after the last period."""
    shares = [re.search(r"([\d.]+) % of the zones", m) for m in (r or {}).get("messages", [])]
    shares = [float(s[1]) / 100 for s in shares if s]
    return shares[-1] if shares else None

def together(name, side, order):
    """Steps on a GPU and all cores, with the share of the zones that balances both."""
    words = ["--problem", "1", "--mesh", cube(side), "--refine", "0", "--order", order, "--t-final", "10", "--cg-tol", "1e-8",
             "--threads", THREADS, "--device", G0 + "+cpu"]
    share = last_share(report(name + "_search", words + ["--period", "5", "--steps", "60"], limit=20))
    if share:
        report(name, words + ["--share", f"{share:.6f}", "--steps", "40"], limit=20)

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
    for n in (1, 2, 4, 8) if "ranks" not in SKIP else ():
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
    p = subprocess.Popen(["nvidia-smi", "--query-gpu=index,power.draw.instant,clocks.sm,utilization.gpu", "--format=csv,noheader,nounits",
                          "-lms", "100"], stdout=subprocess.PIPE, text=True)

    def lines():
        with open(os.path.join(out, "power.csv"), "w") as f:
            print("time_s,gpu,watts,sm_mhz,utilization", file=f)
            for line in p.stdout:
                print(f"{time.time() - begin:.3f},{line.strip().replace(' ', '')}", file=f, flush=True)

    threading.Thread(target=lines, daemon=True).start()
    return p

def summary():
    """Tables of the runs of this folder."""
    import glob

    def read(name):
        try:
            with open(os.path.join(out, name + ".json")) as f:
                return json.load(f)
        except OSError:
            return None

    def write(name, rows):
        with open(os.path.join(out, name + ".json"), "w") as f:
            json.dump({"rows": rows}, f, indent=1)
        for r in rows:
            print(name, r, flush=True)

    rows = []
    for problem in ("sedov", "triple"):
        r = read(f"table5_{problem}")
        if not r:
            continue
        shares = [float(re.search(r"([\d.]+) % of the zones", m)[1]) / 100 for m in r["messages"] if "% of the zones" in m]
        settled = next(k + 1 for k in range(len(shares)) if all(abs(s - shares[-1]) < 0.002 for s in shares[k:]))
        row = {"problem": f"2D {problem}", "zones": r["zones"], "share": shares[-1], "periods": settled, "shares": shares,
               "step_s": r["wall_s"] / r["steps"]}
        for share in ("0.75", "0.9", "0.99", "gpu"):
            f = read(f"table5_{problem}_{share}")
            row["fixed_" + share.replace("0.", "")] = f["wall_s"] / (f["steps"] + f["rejected"]) if f else None
        rows.append(row)
    write("table5", rows)
    rows = []
    for path in sorted(glob.glob(os.path.join(out, "table6_*.json"))):
        with open(path) as f:
            r = json.load(f)
        # The total at the start is 10.05 exactly.
        rows.append({"device": "CPU" if "cpu" in path else "GPU", "zones": r["zones"], "steps": r["steps"], "t": r["t"],
                     "kinetic": r["kinetic"], "internal": r["internal"], "total": r["kinetic"] + r["internal"],
                     "change": r["energy_drift"] * 10.05, "wall_s": r["wall_s"]})
    write("table6", [r for r in rows if abs(r["t"] - 0.6) < 1e-12])
    # Figure 11: steps of 16^3 zones.
    def step(name):
        own = [r for r in (read(name) or {}).get("rows", []) if (r["work"], r["assembly"]) == ("step", "partial")]
        return own[0] if own else None

    rows = []
    for k, spaces in (("q2", "Q2Q1"), ("q4", "Q4Q3")):
        cpu, gpu, both = step(f"cpu_{k}"), step(f"fig15_{k}"), read(f"gpu_cpu_{k}")
        # The study counts a step, a run the attempts.
        both = both and both["wall_s"] / (both["steps"] + both["rejected"])
        if cpu and gpu:
            rows.append({"spaces": spaces, "zones": cpu["zones"], "cpu_s": cpu["seconds"], "gpu_s": gpu["seconds"], "gpu_cpu_s": both,
                         "speedup": cpu["seconds"] / gpu["seconds"], "speedup_gpu_cpu": both and cpu["seconds"] / both, "gpu_watts": gpu["watts"]})
    if len(rows) == 2:
        write("fig11_orders", [{"spaces": "Q4Q3 over Q2Q1", "cpu_s": rows[1]["cpu_s"] / rows[0]["cpu_s"], "gpu_s": rows[1]["gpu_s"] / rows[0]["gpu_s"]}])
    # A rank a core is faster than threads of one process: 32^3 zones by the most ranks and on one GPU, as studies too.
    ranks = sorted((r for r in (read(f"fig13_ranks_{n}") for n in (1, 2, 4, 8, 16, 32, 64)) if r), key=lambda r: r["ranks"])
    gpu = read("fig15_ranks_1")
    if ranks and gpu:
        cpu = ranks[-1]
        seconds = [r["wall_s"] / (r["steps"] + r["rejected"]) for r in (cpu, gpu)]
        joules = gpu["boards"]["energy_j"][0] / (gpu["steps"] + gpu["rejected"])
        rows.insert(0, {"spaces": f"Q2Q1, {cpu['ranks']} ranks", "zones": cpu["zones"], "cpu_s": seconds[0], "gpu_s": seconds[1],
                        "gpu_cpu_s": None, "speedup": seconds[0] / seconds[1], "speedup_gpu_cpu": None, "gpu_watts": joules / seconds[1]})
        for name, r, s, e, device in (("cpu_ranks_q2", cpu, seconds[0], None, "cpu"), ("gpu_ranks_q2", gpu, seconds[1], joules, "cuda:0")):
            row = {"order": 2, "assembly": "partial", "work": "step", "zones": r["zones"], "unknowns": r["unknowns"], "seconds": s,
                   "seconds_error": 0.0, "watts": e and e / s, "joules": e, "joules_per_unknown": e and e / r["unknowns"],
                   "device": device, "host_watts": None, "predicted": None}
            with open(os.path.join(out, name + ".json"), "w") as f:
                json.dump({"provenance": r["provenance"], "rows": [row]}, f)
    write("fig11", rows)
    rows = []
    for tag, spaces in (("q2", "Q2Q1"), ("q4", "Q4Q3"), ("q2_large", "Q2Q1")):
        for n in (1, 2, 4, 8):
            own = [read(f"fig15_{tag}_{n}_processes_{k}") for k in range(n)]
            own = [o["rows"][0] for o in own if o]
            if len(own) != n:
                continue
            rate = sum(o["zones"] / o["seconds"] for o in own)
            watts = [o["watts"] for o in own if o["watts"]]
            watts = statistics.median(watts) if watts else None
            rows.append({"case": f"{spaces}, {n} process{'es' if n > 1 else ''}", "spaces": spaces, "processes": n,
                         "zones": sum(o["zones"] for o in own), "zones_per_s": rate, "watts": watts,
                         "joules_per_million_zones": 1e6 * watts / rate if watts else None})
    for n in (1, 2, 4, 8):
        for kind in ("ranks", "thread_ranks"):
            r = read(f"fig15_{kind}_{n}")
            if r:
                boards = r.get("boards") or {}
                energy = [e for e in boards.get("energy_j", []) if e]
                rows.append({"case": f"steps by {n} {kind.replace('_', ' ')}", "spaces": "Q2Q1", "processes": n, "zones": r["zones"],
                             "step_s": r["wall_s"] / r["steps"], "boards": boards,
                             "watts": max(energy) / r["wall_s"] if energy else None})
    write("sharing", rows)
    rows = []
    for path in sorted(glob.glob(os.path.join(out, "fig1[23]_*.json"))):
        with open(path) as f:
            r = json.load(f)
        name = os.path.basename(path)[:-5]
        attempts = r["steps"] + r["rejected"]
        rows.append({"name": name, "figure": name[:5], "ranks": r["ranks"], "zones": r["zones"], "gpu": "cuda" in name,
                     "steps": r["steps"], "attempt_s": r["wall_s"] / attempts, "iterations": r["timings"]["iterations"]
                     / max(1, r["timings"]["solves"]), "wall_s": r["wall_s"]})
    for figure, gpu in (("fig12", False), ("fig13", False), ("fig13", True)):
        own = sorted((r for r in rows if (r["figure"], r["gpu"]) == (figure, gpu)), key=lambda r: r["ranks"])
        for r in own:
            r["gpu_count"] = r["ranks"] if gpu else None
            what = "GPU" if gpu else "rank"
            r["ranks_named"] = f"{r['ranks']} {what}{'s' if r['ranks'] > 1 else ''}"
            r["speedup"] = own[0]["attempt_s"] / r["attempt_s"]
            r["efficiency"] = r["speedup"] / (1 if figure == "fig12" else r["ranks"] / own[0]["ranks"])
    write("scaling", sorted(rows, key=lambda r: (r["figure"], r["gpu"], r["ranks"])))

log["began"] = time.time()
log["threads"] = THREADS
if os.environ.get("PART") == "summary":
    summary()
    sys.exit(0)
if os.environ.get("PART") == "cpu":
    BUDGET = float(os.environ.get("BUDGET", 3000))
    table1()
    triple("cpu", (1, 2, 3, 4), THREADS)
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
    together("gpu_cpu_q2", 16, "2")
    together("gpu_cpu_q4", 16, "4")
    if "balance" not in SKIP:
        balance()
    # Both GPUs at once, with a core or a few each.
    lane = threading.Thread(target=second if "second" not in SKIP else lambda: None)
    lane.start()
    sharing()
    study("gpu_equal", G0, 48, "2,4")
    lane.join()
    if "scaling" not in SKIP:
        scaling()
    if meter:
        meter.terminate()
save()
shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True) if os.environ["XDG_CACHE_HOME"].startswith(out) else None
print(f"{time.time() - begin:.0f} s; failed: {bad or 'none'}", flush=True)
sys.exit(1 if bad else 0)
PY
