#!/usr/bin/env bash
# Profiles a PyTorch training step and a program of cuBLAS calls: sums, times, overhead. About 330 s, one H100 or H200.
set -u
out="$OUT/profile"; mkdir -p "$out"; here="$(dirname "$0")"
greenup="$BIN/greenup"; work="$(mktemp -d)"
say() { echo "== $(date +%T) $*"; }
{
say start; nvidia-smi -L; "$greenup" --version; which ncu python3 nvcc
py="$(command -v python3)"
if ! timeout 60 nvcc -O2 -arch=native -o "$work/gemm" "$here/gemm.cu" -lcublas 2>"$out/nvcc.txt"; then
    lib="$(python3 -c 'import nvidia, glob; print([d for p in nvidia.__path__ for d in glob.glob(p + "/*/lib") + glob.glob(p + "/lib") if glob.glob(d + "/libcublas.so.*")][0])')"
    timeout 60 nvcc -O2 -arch=native -I"$lib/../include" -o "$work/gemm" "$here/gemm.cu" -L"$lib" -l:"$(basename "$(ls "$lib"/libcublas.so.* | head -1)")" -Xlinker -rpath="$lib" 2>>"$out/nvcc.txt"
fi
say "plain runs"; timeout 30 "$work/gemm" 10; timeout 60 "$py" "$here/train.py" 20

# What ncu prints, for the reader of its table.
say "ncu alone"
timeout 60 ncu --query-metrics >"$work/metrics.txt" 2>&1; grep -E "tensor|hmma|imma|qmma" "$work/metrics.txt" | cut -c1-110 >"$out/ncu_tensor_metrics.txt"; wc -l "$work/metrics.txt"
timeout 60 ncu --csv --page raw --print-units base --clock-control none --cache-control none --kernel-name-base mangled --print-kernel-base mangled --kernel-id '::regex:.:^(2|3)$' --launch-count 8 --kill yes --log-file "$out/ncu_raw.csv" --metrics gpu__time_duration.sum,sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp64.sum "$work/gemm" 3 >"$out/ncu_stdout.txt" 2>&1; echo "ncu rc $?"; tail -3 "$out/ncu_raw.csv" | cut -c1-300

say "cuBLAS, counters"; timeout 120 "$greenup" profile -v --method counters --launches 5 --out "$out/cublas" -- "$work/gemm" 380
say "PyTorch, counters"; timeout 240 "$greenup" profile -v --method counters --launches 3 --out "$out/torch" -- python3 "$here/train.py" 500
say "paused, time alone"
timeout 40 "$greenup" profile --method time --out "$out/cublas_paused" -- "$work/gemm" 40 60 | head -12
timeout 60 "$greenup" profile --method time --out "$out/torch_paused" -- python3 "$here/train.py" 60 0.06 | head -12
say evaluate; python3 "$here/evaluate.py" "$out"
say overhead
timeout 100 python3 "$here/overhead.py" cublas 5 "$greenup" "$out" "$work/gemm" 100
timeout 150 python3 "$here/overhead.py" torch 5 "$greenup" "$out" python3 "$here/train.py" 120
say "time alone"; timeout 60 "$greenup" profile --out "$out/torch_time" -- python3 "$here/train.py" 400 | tail -6
say evaluate; python3 "$here/evaluate.py" "$out" | tail -12
# Compact: activity only of the shortest runs.
du -sh "$out"/*/activity; for d in "$out"/*/activity; do [ "$(du -sk "$d" | cut -f1)" -gt 1500 ] && gzip -9 "$d"/* && [ "$(du -sk "$d" | cut -f1)" -gt 1500 ] && rm -rf "$d"; done
say end
} 2>&1 | tee "$out/log.txt"
rm -rf "$work"
