#!/usr/bin/env bash
# Messages between two GPUs and between ranks as threads, and the scaling model against runs on 1 and 2 GPUs and on 1 to 16 ranks.
# Usage: OUT=DIR docs/results/network.sh BIN_DIR     (BIN_DIR holds greenup, hydro, fmm)
# GPUs come first and take GPU_S seconds at most [default 150], ranks on CPUs CPU_S [default 150]; SKIP_CPU=1 leaves them out.
# Writes $OUT/network/: machine files, the JSON of every run, and the tables, which it prints too.
set -u
bin=$(cd "${1:?folder of the binaries}" && pwd)
: "${OUT:=target/network}"; out=$OUT/network; mkdir -p "$out"
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=$(dirname "$lib")
fi
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$out/cache}
for b in greenup hydro fmm; do chmod +x "$bin/$b" 2>/dev/null; [ -x "$bin/$b" ] || echo "missing: $bin/$b"; done
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
cores=$(nproc)
until=0 # seconds of this script at which its part ends
try() { # try SECONDS NAME COMMAND…: standard output to NAME, an error is printed and does not end the script
    local limit=$1 name=$2; shift 2
    local left=$((until - SECONDS))
    [ "$left" -gt 0 ] || { echo "no time left: $name"; return; }
    timeout $((limit < left ? limit : left)) "$@" > "$out/$name" 2> "$out/$name.err" || { echo "FAILED ($?): $*"; tail -3 "$out/$name.err"; rm -f "$out/$name"; }
}
nvidia-smi --query-gpu=index,name,driver_version,power.limit --format=csv,noheader 2>/dev/null
nvidia-smi topo -m > "$out/topology.txt" 2>/dev/null

until=$((SECONDS + ${GPU_S:-150}))
if [ "$gpus" -ge 2 ]; then
    echo "== messages between GPUs"
    try 60 gpus.txt "$bin/greenup" calibrate --network --device cuda:0,1 --machine h200 --quick --name gpus -o "$out/gpus.toml"
    cat "$out/gpus.txt" 2>/dev/null
fi
if [ "$gpus" -ge 1 ]; then
    echo "== GPUs: predicted against measured"
    machine=h200; [ -s "$out/gpus.toml" ] && machine=$out/gpus.toml
    for app in fmm hydro; do
        runs=()
        # One GPU and all first; further sizes on one GPU tell what a launch costs.
        for case in 0:100 all:100 0:80 0:60; do
            device=${case%%:*}; side=${case##*:}
            [ "$device" = all ] && [ "$gpus" -lt 2 ] && continue
            name=${app}_gpu_${device}_$side.json
            if [ $app = hydro ]; then
                try 40 "$name" "$bin/hydro" run --problem 1 --mesh "${side}x${side}x${side}" --refine 0 --order 2 --t-final 10 --steps 10 --cg-tol 1e-8 --device "cuda:$device" -q --json
            else
                try 20 "$name" "$bin/fmm" run -n $((side * 200000)) --precision f32 -a 1e-4 --device "cuda:$device" --repeat 3 --measure -q --json
            fi
            [ -s "$out/$name" ] && runs+=("$out/$name")
        done
        [ ${#runs[@]} -gt 1 ] && "$bin/greenup" scaling $app --machine "$machine" --measured "${runs[@]}" | tee "$out/${app}_gpu.txt"
    done
fi
[ -n "${SKIP_CPU:-}" ] && { echo "== done, $SECONDS s"; exit; }

until=$((SECONDS + ${CPU_S:-150}))
echo "== messages between ranks as threads, and what the cores share"
for n in 2 $((cores < 16 ? cores : 16)); do
    try 60 "ranks_$n.txt" "$bin/greenup" calibrate --network --ranks "$n" --quick --sensor none --name "ranks$n" -o "$out/ranks_$n.toml"
    cat "$out/ranks_$n.txt" 2>/dev/null
done
echo "== ranks on CPUs: predicted against measured"
files=() ; fmms=()
for n in 1 2 4 8 16; do
    [ "$n" -le "$cores" ] || continue
    try 60 "hydro_cpu_$n.json" "$bin/hydro" run --problem 1 --mesh 24x24x24 --refine 0 --order 2 --t-final 10 --steps 5 --ranks "$n" --threads "$n" -q --json
    [ -s "$out/hydro_cpu_$n.json" ] && files+=("$out/hydro_cpu_$n.json")
    try 60 "fmm_cpu_$n.json" "$bin/fmm" run -n 1000000 --ranks "$n" --threads "$n" --repeat 3 -q --json
    [ -s "$out/fmm_cpu_$n.json" ] && fmms+=("$out/fmm_cpu_$n.json")
done
net=$(ls "$out"/ranks_*.toml 2>/dev/null | sort -t_ -k2 -n | tail -1)
[ -n "$net" ] && [ ${#files[@]} -gt 1 ] && "$bin/greenup" scaling hydro --machine "$net" --measured "${files[@]}" | tee "$out/hydro_cpu.txt"
[ -n "$net" ] && [ ${#fmms[@]} -gt 1 ] && "$bin/greenup" scaling fmm --machine "$net" --measured "${fmms[@]}" | tee "$out/fmm_cpu.txt"
echo "== done, $SECONDS s"
