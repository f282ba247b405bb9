#!/usr/bin/env bash
# The batched kernels of hydro against cuBLAS: checks of the baselines, searches, the best configs next to the baselines in
# interleaved rounds with joules, hardware counters. On two GPUs, half of it each; on one, GPUS=0 and twice as long.
# Usage: BIN=FOLDER_OF_GREENUP batched.sh; writes $OUT/batched. At most LIMIT s (default 200).
set -u
: "${BIN:=target/release}" "${OUT:=target/bench}" "${LIMIT:=200}" "${GPUS:=0 1}"
greenup=$(cd "$BIN" && pwd)/greenup
out=$OUT/batched
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=apps/hydro/src/kernels/batched
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=${lib%/*}
fi
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$out/cache}
nvidia-smi --query-gpu=index,name,driver_version,power.limit --format=csv,noheader | tee "$out/gpus.txt"

say() { echo "$SECONDS s: $*"; }
left() { echo $((LIMIT - 3 - SECONDS)); }

# tuned NAME PROBLEM LEAST ARGUMENTS...: a search, if at least LEAST seconds are left.
tuned() {
    local name=$1 problem=$2 least=$3 begin=$SECONDS
    shift 3
    [ "$(left)" -ge "$least" ] || { say "$name: no time left"; return 1; }
    timeout "$(left)" "$greenup" tune "$problem" --device "cuda:$gpu" --out "$out/$name" "$@" --json \
        >"$out/$name.json" 2>"$out/$name.txt" || { say "$name: FAILED"; tail -2 "$out/$name.txt"; return 1; }
    say "$name: $((SECONDS - begin)) s, $(wc -l <"$out/$name/trials.jsonl") trials, $("$greenup" best "$out/$name")"
}
# Times only, in short windows.
searched() {
    local name=$1 problem=$2 budget=$3
    shift 3
    tuned "$name" "$problem" $((budget + 6)) --sensor none --measure 0.05 --strategy exhaustive --finalists 2 \
        --budget "${budget}s" "$@"
}
# compared NAME SEARCH PROBLEM CONSTANTS...: the best config of a search and the baseline, with joules.
compared() {
    local name=$1 search=$2 problem=$3 d fixed=()
    shift 3
    [ -f "$out/$search/trials.jsonl" ] || return 1
    for d in $("$greenup" best "$out/$search"); do fixed+=(--set "${d#-D}"); done
    tuned "$name" "$problem" 16 --measure 0.5 --finalists 1 --budget 1 "$@" "${fixed[@]}"
}
counted() { # SEARCH PROBLEM CONFIGS CONSTANTS...
    local name=$1 problem=$2 configs=$3 begin=$SECONDS
    shift 3
    [ -f "$out/$name/trials.jsonl" ] && [ "$(left)" -ge 8 ] || { say "counters of $name: no time left"; return 1; }
    timeout "$(left)" "$greenup" profile "$problem" --device "cuda:$gpu" --sweep "$out/$name" --configs "$configs" "$@" \
        --metric l1tex__t_bytes.sum --metric l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum \
        --metric l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum --metric gpu__time_duration.sum \
        --metric dram__throughput.avg.pct_of_peak_sustained_elapsed --json \
        >"$out/counters-$name.json" 2>"$out/counters-$name.txt" || { say "counters of $name: FAILED"; tail -2 "$out/counters-$name.txt"; return 1; }
    say "counters of $name: $((SECONDS - begin)) s"
}

# checked NAME CASES...: baselines of small problems against their references.
checked() {
    local name=$1
    shift
    CUDA_VISIBLE_DEVICES=$gpu timeout 60 python3 apps/hydro/benches/baselines.py "$@" >"$out/check-$name.txt" 2>&1 ||
        say "baselines of $name: FAILED"
    say "$(grep -c error "$out/check-$name.txt") baselines of $name checked"
}

products=$here/products/problem.toml forces=$here/forces/problem.toml vectors=$here/vectors/problem.toml
points=$here/points/problem.toml
flat=(--set dim=2)

first() {
    local k cases=()
    for k in 0 1 2; do
        cases+=("$products" zones=3 baseline_kind=$k "$products" zones=3 dim=2 trans_b=1 baseline_kind=$k)
        cases+=("$vectors" zones=7 baseline_kind=$k "$vectors" zones=7 number=10 dim=2 order=3 baseline_kind=$k)
    done
    checked vectors "${cases[@]}"
    searched products "$products" 20
    searched vectors_8 "$vectors" 10 --set THREADS=64,256 --set TM=1,2,4 --set UNROLL=1,4,8
    searched vectors_10 "$vectors" 14 --set number=10 --set THREADS=128,256 --set TM=1,8 --set UNROLL=1,2,4 --set LANES=1,8,16,32
    compared vectors_8_gemv vectors_8 "$vectors"
    tuned vectors_8_table4 "$vectors" 8 --sensor none --measure 0.05 --finalists 1 --budget 1 --set zones=4096 --set baseline_kind=2 \
        --set VERSION=2 --set THREADS=256 --set TM=1 --set UNROLL=8
    counted vectors_8 "$vectors" 12
    counted vectors_10 "$vectors" 12 --set number=10
    counted products "$products" 12
    compared products_steps products "$products" --set baseline_kind=1
    tuned vectors_8_gemm "$vectors" 8 --sensor none --measure 0.05 --finalists 1 --budget 1 --set baseline_kind=0 \
        --set VERSION=2 --set THREADS=256 --set TM=1 --set UNROLL=8
    tuned vectors_10_gemm "$vectors" 8 --sensor none --measure 0.05 --finalists 1 --budget 1 --set number=10 --set baseline_kind=0 \
        --set VERSION=2 --set THREADS=256 --set TM=8 --set UNROLL=1 --set LANES=32
    tuned products_streams "$products" 8 --sensor none --measure 0.05 --finalists 1 --budget 1 --set zones=64 --set baseline_kind=2 \
        --set METHOD=1 --set MATRICES=64 --set VEC=2 --set GROUPS=1
    searched products_soa "$products" 6 --set layout=1 --set baseline_kind=1
}

second() {
    local k n cases=()
    for k in 0 1 2; do
        cases+=("$forces" zones=5 baseline_kind=$k "$forces" zones=5 number=3 baseline_kind=$k)
    done
    checked forces "${cases[@]}"
    searched forces_q2 "$forces" 18 --set THREADS=128,256 --set TM=1,2 --set TN=1,8 --set BLK=4,64 --set UNROLL=1,4,8
    searched forces_q4 "$forces" 20 --set order=4 --set zones=256 --set THREADS=128,256 --set TM=1,2,4 --set TN=1,4,8 --set BLK=4,32 --set UNROLL=1,8
    for n in 1 2; do
        searched points_$n "$points" 6 --set number=$n --set BLOCKS=1
        counted points_$n "$points" 8 --set number=$n
    done
    counted forces_q2 "$forces" 12
    compared forces_q2_cublas forces_q2 "$forces"
    searched jacobians_q2 "$forces" 12 --set number=3 --set zones=65536 --set THREADS=96,192 --set TM=1,2,4 --set TN=1,2,4 --set BLK=4 --set UNROLL=1,3
    counted jacobians_q2 "$forces" 10 --set number=3 --set zones=65536
    counted forces_q4 "$forces" 10 --set order=4 --set zones=256
    searched forces_q4_flat "$forces" 8 "${flat[@]}" --set order=4 --set zones=14400 --set THREADS=128,256 --set TM=1,2 --set TN=1,2,16 --set BLK=4,64 --set UNROLL=1,8
    searched forces_q2_flat "$forces" 8 "${flat[@]}" --set zones=147456 --set THREADS=128,256 --set TM=1,2 --set TN=1,4 --set BLK=4,16 --set UNROLL=1,4
    searched products_flat "$products" 6 "${flat[@]}" --set zones=262144
}

set -- $GPUS
(gpu=$1; first; say "first half done") &
if [ $# -gt 1 ]; then
    (gpu=$2; second; say "second half done") &
    wait
else
    wait
    gpu=$1; second
fi
rm -rf "$out/cache" "$out"/*/results-t4.json "$out"/*/trials.csv
say "$(du -sh "$out" | cut -f1) in $out"
