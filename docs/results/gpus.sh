#!/usr/bin/env bash
# The recorded runs on all GPUs of a host: hydro, gisaxs, fmm and tuning on 1, 2, 4, … GPUs; time, joules of all boards,
# predictions made before, digits, and what limits each. Nothing but the binaries is needed.
# Usage: OUT=DIR docs/results/gpus.sh BIN_DIR     (BIN_DIR holds greenup, hydro, gisaxs, fmm)
# BUDGET is the time of this call [default 25m]. Each run is on the disk when it ends: the same call again, with the same OUT,
# continues. COUNTS=1,8 measures these numbers of devices [default: 1, 2, 4, … and all], ROUNDS=N interleaved rounds [2].
# DEVICE=cpu runs the same cases at small sizes with ranks on cores instead of GPUs: a trial of this script.
# Writes scaling-runs.jsonl (every run), scaling.json, scaling.html, figures, scaling.md (tables) and host.txt to OUT.
set -eu
bin=$(cd "${1:?folder of the binaries}" && pwd)
out=${OUT:-target/gpus}
mkdir -p "$out"
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -z "$lib" ] || export GREENUP_CUDA=$(dirname "$lib")
fi
for b in greenup hydro gisaxs fmm; do
    chmod +x "$bin/$b" 2>/dev/null || true
    [ -x "$bin/$b" ] || { echo "missing: $bin/$b" >&2; exit 1; }
done

if [ "${DEVICE:-gpus}" = cpu ]; then
    sizes=(--device cpu --hydro-zones 12 --hydro-weak-zones 12 --hydro-steps 6 --fmm-points 200000 --gisaxs-grid 201
        --gisaxs-triangles 20000 --gisaxs-image 96 --tune-trials 8)
    { nproc | sed 's/$/ cores/'; grep -m1 'model name' /proc/cpuinfo || true; } >"$out/host.txt"
else
    # 10^8 points and 7.5 million triangles; of fmm as many points as fit into one GPU.
    sizes=(--device cuda --hydro-zones 126 --hydro-weak-zones 80 --hydro-steps 16 --fmm-points 100000000 --gisaxs-grid 2829
        --gisaxs-triangles 7500000 --gisaxs-image 4096 --tune-trials 32)
    {
        nvidia-smi --query-gpu=index,name,driver_version,power.limit,memory.total --format=csv
        nvidia-smi topo -m
        nproc | sed 's/$/ cores/'
    } >"$out/host.txt" 2>&1 || { cat "$out/host.txt" >&2; exit 1; }
fi
[ -z "${COUNTS:-}" ] || sizes+=(--counts "$COUNTS")

"$bin/greenup" scaling study --all-cases --resume --rounds "${ROUNDS:-2}" --budget "${BUDGET:-25m}" "${sizes[@]}" -o "$out"
"$bin/greenup" scaling --study "$out" -o "$out/scaling.md"
for app in hydro gisaxs fmm tune; do
    grep -q "\"application\": \"$app\"" "$out/scaling.json" || continue
    "$bin/greenup" scaling "$app" --study "$out" -o "$out/scaling_$app.png"
done
