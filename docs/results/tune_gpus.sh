#!/usr/bin/env bash
# One worker against two, each on a GPU of its own: trials a minute, finalists, disturbance, energies, and a worker killed
# in the middle. Two GPUs of one model; about two minutes.
# Usage: tune_gpus.sh BIN_DIR; raw output goes to $OUT (default: a temporary folder). TRIALS sets the number of trials.
# PROBLEM=FILE tries the script on a problem for CPUs, whose two workers share the cores: its rates and ratios mean nothing.
set -euo pipefail
bin=$(cd "$1" && pwd) trials=${TRIALS:-30} problem=${PROBLEM:-}
here=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$(mktemp -d)}/tune_gpus
mkdir -p "$out"
for name in warm one two killed; do
    [ ! -e "$out/$name" ] || { echo "$out/$name exists: set OUT to a new folder" >&2; exit 1; }
done
cache=$(mktemp -d)
tuner=
trap '[ -z "$tuner" ] || kill "$tuner" 2>/dev/null || true; rm -rf "$cache"' EXIT
export XDG_CACHE_HOME=$cache

how=(--strategy random --seed 7 --budget "$trials" --finalists 2 --json)
if [ -n "$problem" ]; then
    search=("$bin/greenup" tune "$problem" --sensor none "${how[@]}")
    one=(--workers 1) two=(--workers 2)
else
    nvidia-smi -L | tee "$out/gpus.txt"
    # A part of the space in which nearly all configs compile quickly, at a small size: a trial is short.
    search=("$bin/greenup" tune "$here/crates/gemm/src/kernels/gpu/problem.toml"
        --set size_m=2048 --set size_n=2048 --set size_k=2048 --set use_mma=8,16 --set way_copy=2 --set vec_read=2
        --set vec_tile=1,2 --set dim_m=8,16,32 --set dim_n=4,8,16 --set blk_m=64,96,128 --set blk_n=64,96,128
        --set blk_k=16,32 --set pad_a=0,4 --set pad_b=0,4 --set raster_m=1,4 --set split_k=1 --set grid_fixed=0 --set lanes=0
        --measure 0.2 "${how[@]}")
    one=(--device cuda:0) two=(--device cuda:0,1)
fi

failed() { # NAME
    echo "$1: FAILED"
    tail -3 "$out/$1.txt"
}

run() { # NAME ARGUMENTS...
    local name=$1 begin=$SECONDS
    shift
    timeout 150 "${search[@]}" "$@" --out "$out/$name" >"$out/$name.json" 2>"$out/$name.txt" || { failed "$name"; return 1; }
    echo "$name: $((SECONDS - begin)) s in all"
}

measured() { # NAME: trials so far
    if [ -f "$out/$1/trials.jsonl" ]; then wc -l <"$out/$1/trials.jsonl"; else echo 0; fi
}

# The kernels are compiled once, so that both searches measure with the same cache.
run warm "${two[@]}"
run one "${one[@]}"
run two "${two[@]}"

# A worker is killed while the search runs: its trial may fail, the run goes on.
"${search[@]}" "${two[@]}" --out "$out/killed" >"$out/killed.json" 2>"$out/killed.txt" &
tuner=$! begin=$SECONDS
while [ "$(measured killed)" -lt $((trials / 2)) ] && kill -0 "$tuner" 2>/dev/null && [ $((SECONDS - begin)) -lt 150 ]; do
    sleep 0.05
done
# Children of the tuner that are workers of the search; what compiles or runs the reference has no sensor and ends soon.
victim=$(pgrep -P "$tuner" -f 'trial-worker.*--sensor' | head -1 || true)
[ -n "$victim" ] || victim=$(pgrep -o -P "$tuner" -f trial-worker || true)
if [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null; then
    echo "killed worker $victim after $(measured killed) trials"
else
    echo "killed: no worker was there to kill after $(measured killed) trials"
fi
while kill -0 "$tuner" 2>/dev/null; do
    [ $((SECONDS - begin)) -lt 300 ] || { echo "killed: it hangs"; kill -9 "$tuner"; }
    sleep 0.1
done
if wait "$tuner"; then echo "killed: the run went on to its end"; else failed killed; fi
tuner=

python3 - "$out" <<'PY' | tee "$out/summary.txt"
import json, pathlib, sys
out = pathlib.Path(sys.argv[1])
def read(name):
    found = json.loads((out / f"{name}.json").read_text())
    trials = [json.loads(line) for line in (out / name / "trials.jsonl").read_text().splitlines()]
    return found, trials
rates, finalists, configs = {}, {}, {}
for name in ("one", "two", "killed"):
    try:
        found, trials = read(name)
    except (OSError, ValueError) as error:
        print(f"{name}: no result ({error})")
        continue
    rates[name] = 60 * len(trials) / found["search_s"]
    finalists[name] = [tuple(f["config"]) for f in found["finalists"]]
    configs[name] = {tuple(t["config"]) for t in trials}
    joules = sorted(t["measured"]["energy_j"] for t in trials if t.get("measured", {}).get("energy_j"))
    each = {}
    for t in trials:
        device = t.get("device") or {}
        key = device.get("uuid") or f"worker {device.get('worker', 0)}"
        each[key] = each.get(key, 0) + 1
    print(f"{name}: {len(trials)} trials in {found['search_s']:.1f} s, {rates[name]:.1f} a minute, failed {found['failures']}, by device {each}")
    best = found["finalists"][0]
    energy = f", {best['energy_j']['median']:.4f} J" if best.get("energy_j") else ""
    print(f"  best {best['time_s']['median'] * 1e3:.4f} ms{energy}")
    if joules:
        print(f"  median energy of the trials {joules[len(joules) // 2]:.4f} J")
    d = found.get("disturbance")
    if d:
        for what in ("time_ratio", "energy_ratio"):
            if d.get(what):
                r = d[what]
                print(f"  all at once over alone, {what}: {r['median']:.4f} [{r['lo']:.4f} … {r['hi']:.4f}]")
        for w, r in list(zip(d["workers"], d["device_ratios"]))[1:]:
            print(f"  {w} over {d['workers'][0]}, time: {r['median']:.4f} [{r['lo']:.4f} … {r['hi']:.4f}]")
if "one" in rates and "two" in rates:
    print(f"trials a minute, two workers over one: {rates['two'] / rates['one']:.3f} (target 1.9)")
    print(f"same configs: {configs['one'] == configs['two']}; same finalists: {set(finalists['one']) == set(finalists['two'])}; same best: {finalists['one'][0] == finalists['two'][0]}")
PY
