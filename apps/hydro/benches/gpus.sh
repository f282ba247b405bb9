#!/usr/bin/env bash
# hydro on one and two GPUs: digits, strong and weak scaling, joules. `gpus.sh BIN_DIR` with BIN_DIR/hydro; writes
# $OUT/hydro_gpus.jsonl (every run) and $OUT/hydro_gpus.txt (the tables). At most four minutes (BUDGET, s).
# PART=scaling leaves out the digits.
set -u
export HYDRO=${1:-target/release}/hydro
: "${OUT:=target/hydro_gpus}"; export OUT; mkdir -p "$OUT"
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=$(dirname "$lib")
fi
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$PWD/target/hydro_gpus/cache}
chmod +x "$HYDRO" 2>/dev/null
nvidia-smi --query-gpu=name,driver_version,memory.used --format=csv,noheader
nvidia-smi topo -m 2>/dev/null | head -6
exec python3 - <<'PY'
import concurrent.futures as cf, json, os, statistics, subprocess, sys, time

begin, out, hydro = time.time(), os.environ["OUT"], os.environ["HYDRO"]
BUDGET = float(os.environ.get("BUDGET", 235))
N = int(os.environ.get("N", 126))          # zones along an edge of the large problem
STEPS = int(os.environ.get("STEPS", 16))
log = open(os.path.join(out, "hydro_gpus.jsonl"), "w", buffering=1)
table = open(os.path.join(out, "hydro_gpus.txt"), "w", buffering=1)
bad = 0

def say(text):
    print(text, flush=True)
    table.write(text + "\n")

def run(what, words, limit=100):
    left = BUDGET - (time.time() - begin)
    if left < 5:
        return None
    t = time.time()
    cmd = ["timeout", "-k", "5", str(int(min(limit, left))), hydro, "run", "--json"] + words.split()
    p = subprocess.run(cmd, capture_output=True, text=True)
    rec = {"what": what, "words": words, "rc": p.returncode, "process_s": round(time.time() - t, 2)}
    try:
        rec["report"] = json.loads(p.stdout)
    except ValueError:
        rec["stderr"] = p.stderr[-2000:]
    log.write(json.dumps(rec) + "\n")
    if "report" not in rec:
        say(f"{what}: rc {p.returncode}: {p.stderr.strip()[-300:]}")
        return None
    return dict(rec["report"], process_s=rec["process_s"])

# (a) Digits.
WAYS = [("peer", "--device cuda:0,1"), ("messages", "--device cuda:0,1 --kernels peer=0"), ("same GPU", "--device cuda:0,0")]
CASES = [("2D", "--problem 3 --refine 2", k, a) for k in (1, 2, 3) for a in ("partial", "full")]
CASES += [("3D", "--problem 1 --mesh cube01_hex --refine 2", k, a) for k in (1, 2, 3) for a in ("partial", "full")]
CASES += [("gravity", "--problem 7 --mesh rt2D --refine 1 --ode rk6", 2, "partial"), ("rk2avg", "--problem 0 --mesh cube01_hex --refine 1 --ode rk2avg", 2, "partial")]
def words(case):
    return f"{case[1]} --order {case[2]} --assembly {case[3]} --steps 12 --t-final 10 --cg-tol 1e-13 --threads 4"
if os.environ.get("PART") == "scaling":
    CASES = []
with cf.ThreadPoolExecutor(8) as pool:  # compiles all kernels
    jobs = [pool.submit(run, "compile", words(c) + " " + d, 100) for c in CASES for d in ("--device cuda:0", "--device cuda:0,0")]
    [j.result() for j in jobs]
say(f"kernels compiled, {time.time() - begin:.0f} s")
say(f"{'case':<22}" + "".join(f"{w[0]:>16}" for w in WAYS) + "   largest difference of dt and energies from one GPU")
for case in CASES:
    one, cells = run("digits", words(case) + " --device cuda:0"), []
    for name, device in WAYS:
        two = run("digits", words(case) + " " + device)
        if one is None or two is None:
            cells.append("failed"); bad += 1
            continue
        diff = max(abs(one[k] - two[k]) / max(abs(one[k]), 1) for k in ("dt", "internal", "kinetic", "e_norm"))
        ok = diff <= 1e-12 and all(one[k] == two[k] for k in ("steps", "rejected", "t")) and two["ranks"] == 2
        bad += not ok
        cells.append(f"{diff:.1e} {'ok' if ok else 'WRONG'}")
    say(f"{case[0] + ' Q' + str(case[2]) + ' ' + case[3]:<22}" + "".join(f"{c:>16}" for c in cells))
say(f"digits: {time.time() - begin:.0f} s")

# (b, c, d) Q2Q1 Sedov in 3D: N^3 zones on one and two GPUs, and twice as many on two.
def large(zones, device):
    return f"--problem 1 --mesh {zones} --refine 0 --order 2 --steps {STEPS} --t-final 10 {device}"
one, two = f"{N}x{N}x{N}", f"{2 * N}x{N}x{N}"
KINDS = [("1 GPU", large(one, "--device cuda:0")), ("2 GPUs", large(one, "--device cuda:0,1")),
         ("2 GPUs, 2x zones", large(two, "--device cuda:0,1")), ("2 GPUs, messages", large(one, "--device cuda:0,1 --kernels peer=0"))]
got = {k: [] for k, _ in KINDS}
for turn in range(3):
    for kind, w in KINDS:
        if kind == "2 GPUs, messages" and turn:
            continue
        r = run(kind, w)
        if r:
            got[kind].append(r)
say(f"\n{'Q2Q1 ' + one:<20}{'runs':>5}{'zones':>10}{'steps s':>9}{'spread':>8}{'process s':>10}{'J':>9}{'its':>7}")
median = {}
for kind, _ in KINDS:
    rs = got[kind]
    if not rs:
        continue
    t = [r["wall_s"] for r in rs]
    median[kind] = statistics.median(t)
    j = [r["boards"]["total_j"] for r in rs if r.get("boards") and r["boards"].get("total_j")]
    its = rs[0]["timings"]["iterations"] / max(rs[0]["timings"]["solves"], 1)
    say(f"{kind:<20}{len(t):>5}{rs[0]['zones']:>10}{median[kind]:>9.3f}{(max(t) - min(t)) / median[kind]:>8.1%}"
        f"{statistics.median(r['process_s'] for r in rs):>10.1f}{statistics.median(j) if j else float('nan'):>9.0f}{its:>7.1f}")
if "1 GPU" in median:
    t = median["1 GPU"]
    if "2 GPUs" in median:
        say(f"strong {t / median['2 GPUs']:.3f} (target 1.8)")
        a, b = got["1 GPU"][0], got["2 GPUs"][0]
        say("digits of the large problem: " + ", ".join(f"{k} {abs(a[k] - b[k]) / max(abs(a[k]), 1):.1e}" for k in ("dt", "internal", "kinetic", "e_norm")))
    if "2 GPUs, 2x zones" in median:
        # The finer mesh may reject steps: the time is that of an attempted step.
        tried = lambda kind: got[kind][0]["steps"] + got[kind][0]["rejected"]
        say(f"weak, per attempted step {t / tried('1 GPU') / (median['2 GPUs, 2x zones'] / tried('2 GPUs, 2x zones')):.3f} (target 0.92)")
say(f"{bad} of {len(CASES) * len(WAYS)} comparisons wrong; {time.time() - begin:.0f} s in all")
sys.exit(bad != 0)
PY
