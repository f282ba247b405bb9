#!/usr/bin/env bash
# Sums by counters, with bytes and times read in one pass. About 260 s.
set -u
out="$OUT/profile3"; mkdir -p "$out"; here="$(dirname "$0")"; greenup="$BIN/greenup"; work="$(mktemp -d)"
{
timeout 60 nvcc -O2 -arch=native -o "$work/gemm" "$here/gemm.cu" -lcublas
for m in h100; do timeout 80 "$greenup" profile -v --method counters --launches 5 --out "$out/cublas" -- "$work/gemm" 760; done
timeout 250 "$greenup" profile -v --method counters --launches 2 --out "$out/torch" -- python3 "$here/train.py" 500
python3 "$here/evaluate.py" "$out"
for d in "$out"/*/activity; do gzip -9 "$d"/*; [ "$(du -sk "$d" | cut -f1)" -gt 3000 ] && rm -rf "$d"; done
} 2>&1 | tee "$out/log.txt"
rm -rf "$work"
