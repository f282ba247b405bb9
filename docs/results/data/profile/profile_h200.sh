#!/usr/bin/env bash
# Sums by counters on an H200. About 150 s.
set -u
out="$OUT/profile_h200"; mkdir -p "$out"; here="$(dirname "$0")"; greenup="$BIN/greenup"; work="$(mktemp -d)"
{
timeout 60 nvcc -O2 -arch=native -o "$work/gemm" "$here/gemm.cu" -lcublas
timeout 50 "$greenup" profile -v --method counters --launches 5 --out "$out/cublas" -- "$work/gemm" 760
timeout 120 "$greenup" profile -v --method counters --launches 1 --out "$out/torch" -- python3 "$here/train.py" 300
python3 "$here/evaluate.py" "$out"
for d in "$out"/*/activity; do gzip -9 "$d"/*; [ "$(du -sk "$d" | cut -f1)" -gt 3000 ] && rm -rf "$d"; done
} 2>&1 | tee "$out/log.txt"
rm -rf "$work"
