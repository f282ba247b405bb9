#!/usr/bin/env bash
# Times of kernels by CUPTI and by ncu over the same launches (one metric, one pass: no replay). About 130 s.
set -u
out="$OUT/profile2"; mkdir -p "$out"; here="$(dirname "$0")"
greenup="$BIN/greenup"; work="$(mktemp -d)"
say() { echo "== $(date +%T) $*"; }
alone() { timeout "$1" ncu --csv --page raw --print-units base --clock-control none --cache-control none --kernel-name-base mangled --print-kernel-base mangled --target-processes all --log-file "$2" --metrics gpu__time_duration.sum "${@:3}" >/dev/null 2>&1; echo "ncu rc $?"; }
{
timeout 60 nvcc -O2 -arch=native -o "$work/gemm" "$here/gemm.cu" -lcublas
say cublas; timeout 40 "$greenup" profile --method time --out "$out/cublas" -- "$work/gemm" 5 20 | tail -3
alone 60 "$work/cublas.csv" "$work/gemm" 5 20; python3 "$here/same_launches.py" "$out/cublas" "$work/cublas.csv"
say torch; timeout 60 "$greenup" profile --method time --out "$out/torch" -- python3 "$here/train.py" 4 0.05 | tail -3
alone 150 "$work/torch.csv" python3 "$here/train.py" 4 0.05; python3 "$here/same_launches.py" "$out/torch" "$work/torch.csv"
for t in cublas torch; do gzip -9c "$work/$t.csv" >"$out/$t.ncu.csv.gz"; done
say overhead; timeout 45 python3 "$here/overhead.py" torch 1 "$greenup" "$out" python3 "$here/train.py" 120
rm -rf "$out"/*/activity; say end
} 2>&1 | tee "$out/log.txt"
rm -rf "$work"
