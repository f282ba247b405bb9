#!/usr/bin/env bash
# Table I of the BEAST paper on two GPUs: s, d, c, z x NN, NT, TN, TT, searched in small spaces and measured with joules
# next to cuBLAS in interleaved rounds; textures and clipped edges at odd sizes; selected DGEMM configs over size (Fig. 4).
# Usage: BIN=FOLDER_OF_GREENUP docs/results/gemm_cases.sh, from the root of the repository; writes $OUT/gemm. At most LIMIT s (420).
set -u
: "${BIN:=target/release}" "${OUT:=target/bench}" "${LIMIT:=420}" "${GPUS:=0 1}" "${N:=4096}"
greenup=$(cd "$BIN" && pwd)/greenup
out=$OUT/gemm
mkdir -p "$out"
out=$(cd "$out" && pwd)
problem=crates/gemm/src/kernels/gpu/problem.toml
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=${lib%/*}
fi
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$out/cache}
cores=$(nproc)
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores / 2))}
nvidia-smi --query-gpu=index,name,driver_version,power.limit --format=csv,noheader | tee "$out/gpus.txt"
"$greenup" --version | tee "$out/version.txt"

say() { echo "$SECONDS s, GPU $gpu: $*"; }
left() { echo $((LIMIT - 3 - SECONDS)); }

# tuned NAME LEAST ARGUMENTS...: a search, if at least LEAST seconds are left.
tuned() {
    local name=$1 least=$2 begin=$SECONDS
    shift 2
    [ "$(left)" -ge "$least" ] || { say "$name: no time left"; return 1; }
    timeout "$(left)" "$greenup" tune $problem --device "cuda:$gpu" --out "$out/$name" "$@" --json \
        >"$out/$name.json" 2>"$out/$name.txt" || { say "$name: FAILED"; tail -3 "$out/$name.txt"; return 1; }
    say "$name: $((SECONDS - begin)) s, $(wc -l <"$out/$name/trials.jsonl") trials"
    python3 - "$out/$name.json" <<'P'
import json, sys
try:
    j = json.load(open(sys.argv[1]))
    b = (j.get("found") or j).get("baseline") or {}
    show = lambda x: x and "%.3f [%.3f, %.3f]" % (x["median"], x["lo"], x["hi"])
    print("    time over cuBLAS", show(b.get("time_ratio")), "energy", show(b.get("energy_ratio")))
except Exception as e:
    print("    ", e)
P
}

of() { case $1 in s) echo 0 ;; d) echo 1 ;; c) echo 2 ;; z) echo 3 ;; esac; }
trans() { case $1 in n) echo 0 ;; t) echo 1 ;; esac; }

# searched TYPE A B BUDGET: a case of the table, e.g. searched d n t 18.
searched() {
    local ta tb set=() k v
    ta=$(trans "$2") tb=$(trans "$3")
    local fixed="texture=0 edges=0 split_k=1 raster_m=8"
    case $1 in
    d) fixed+=" use_mma=8 way_copy=4 swizzle=1 lanes=0 pair_k=1 read_a=8 read_b=4 vec_read=2 vec_tile=$((2 - ta))
        pad_a=0 pad_b=0 dim_m=16 dim_n=16 blk_m=128 blk_n=128 blk_k=16,32 parts_ahead=0,1,2 stage_count=3,5
        grid_fixed=0,1 blocks_wanted=1"
        # The recorded sweep has found the best of these.
        [ "$2$3" = nn ] && fixed+=" blk_k=16 parts_ahead=1,2 stage_count=5 grid_fixed=1" ;;
    z) fixed+=" use_mma=8 way_copy=4 swizzle=1 lanes=0 pair_k=1 read_a=8 read_b=4 vec_read=1 vec_tile=1
        pad_a=0 pad_b=0 dim_m=16,32 dim_n=8,16 blk_m=64 blk_n=64,128 blk_k=8,16 parts_ahead=2 stage_count=4
        grid_fixed=0 blocks_wanted=1" ;;
    s) fixed+=" use_mma=0 way_copy=2 swizzle=0 lanes=1 pair_k=0 vec_read=4 vec_tile=4
        read_a=$((ta ? 8 : 32)) read_b=$((tb ? 32 : 8)) pad_a=$((ta ? 4 : 0)) pad_b=$((tb ? 0 : 4))
        dim_m=16,32 dim_n=8,16 blk_m=128,256 blk_n=128,256 blk_k=8,16 parts_ahead=1 stage_count=4
        grid_fixed=0 blocks_wanted=1,2" ;;
    c) fixed+=" use_mma=0 way_copy=2 swizzle=0 lanes=1 pair_k=0 vec_read=2 vec_tile=2
        read_a=$((ta ? 8 : 32)) read_b=$((tb ? 32 : 8)) pad_a=$((ta ? 2 : 0)) pad_b=$((tb ? 0 : 2))
        dim_m=16,32 dim_n=8,16 blk_m=64,128 blk_n=64,128 blk_k=8 parts_ahead=0 stage_count=4
        grid_fixed=0 blocks_wanted=1,2" ;;
    esac
    for v in $fixed; do set+=(--set "$v"); done
    tuned "$1$2$3" $(($4 + 24)) --set "size_m=$N" --set "size_n=$N" --set "size_k=$N" --set "elem=$(of "$1")" \
        --set "trans_a=$ta" --set "trans_b=$tb" "${set[@]}" \
        --budget "${4}s" --measure 0.65 --finalists 2 --near-ties 1 --rounds 6
}

# odd TYPE A B SET...: configs of the whole space at an odd size, verified.
odd() {
    local name=odd_$1$2$3 elem ta tb set=() v
    elem=$(of "$1") ta=$(trans "$2") tb=$(trans "$3")
    shift 3
    for v in "$@"; do set+=(--set "$v"); done
    tuned "$name" 12 --set size_m=1027 --set size_n=1999 --set size_k=513 --set "elem=$elem" --set "trans_a=$ta" \
        --set "trans_b=$tb" --set split_k=1 --set raster_m=1 --set grid_fixed=0 --set blocks_wanted=1 \
        "${set[@]}" --strategy random --budget 4 --sensor none --measure 0.05 --finalists 1 --near-ties 0 \
        --rounds 3
}

# BEAST's textures against plain and read-only reads, the same tiles; FMAs through registers.
textures() {
    tuned textures 25 --set "size_m=$N" --set "size_n=$N" --set "size_k=$N" --set use_mma=8 --set way_copy=0,1 \
        --set texture=0,1 --set edges=0 --set dim_m=16 --set dim_n=16 --set blk_m=128 --set blk_n=128 --set blk_k=16 \
        --set read_a=64 --set read_b=8 --set vec_read=2 --set vec_tile=2 --set pair_k=1 --set parts_ahead=0 --set pad_a=4 \
        --set pad_b=4 --set stage_count=1 --set raster_m=8 --set split_k=1 --set grid_fixed=0 --set blocks_wanted=1 \
        --set lanes=0 --set swizzle=0 --strategy exhaustive --budget 10 --measure 0.65 --finalists 3 --near-ties 0 --rounds 6
}

# Fig. 4: configs of the recorded sweep over size.
sizes() {
    [ "$(left)" -ge 30 ] || { say "sizes: no time left"; return 1; }
    cp -r sweeps/dgemm_h200 "$out/sizes"
    # Only the values that the six configs have: a small space has its index at once, at each size.
    timeout $(($(left) < 75 ? $(left) : 75)) "$greenup" scale $problem --sweep "$out/sizes" --set texture=0 --set edges=0 \
        --set use_mma=4,8 --set way_copy=2,3,4 --set dim_m=8,16,32 --set dim_n=8,16 --set blk_m=64,128 \
        --set blk_n=48,64,128 --set vec_read=2 --set read_a=8,32 --set read_b=4 --set split_k=1 --set lanes=0 \
        --set stage_count=4,5,6 --set raster_m=1,8 \
        --over size_m+size_n+size_k=4096,2048,1024,512,3072,1536,1000 --measure 0.5 --configs 6 \
        --device "cuda:$gpu" >"$out/sizes.txt" 2>&1 || say "sizes: FAILED or cut"
    find "$out/sizes" -type f -not -name 'scaling*' -delete
    say "sizes"
    tail -14 "$out/sizes.txt"
}

one() {
    gpu=$1
    odd d t t use_mma=0 way_copy=0 texture=1 edges=0,1
    odd s n n use_mma=0 edges=1
    for c in "n n 6" "n t 15" "t n 15" "t t 15"; do searched d $c; done
    sizes
    for c in "n n 15" "n t 15" "t n 15" "t t 15"; do searched s $c; done
}
two() {
    gpu=$1
    odd z n t use_mma=4,8 texture=0
    odd c t n use_mma=0 edges=0,1
    for c in "n n 15" "n t 15" "t n 15" "t t 15"; do searched z $c; done
    for c in "n n 15" "n t 15" "t n 15" "t t 15"; do searched c $c; done
    textures
}
set -- $GPUS
if [ $# -gt 1 ]; then
    one "$1" &
    two "$2" &
    wait
else
    one "$1"
    two "$1"
fi
rm -rf "$out/cache"
gpu=all
say "done"
