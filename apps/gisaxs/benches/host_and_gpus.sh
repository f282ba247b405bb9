#!/usr/bin/env bash
# Thread scaling, pinning and table III on a host, unroll factors and phases on a GPU, and a blend of 7.5 million triangles on two GPUs.
# Run it in a checkout: BIN=folder of the binaries, OUT=folder of the results. Several processes need mpirun (or $MPIRUN).
# About 290 s. CPU timings first, alone (about 210 s), then both GPUs (about 80 s). Nothing is set: clocks, limits and modes stay as they are.
"$BIN/gisaxs" mesh --help > /dev/null || { echo "$BIN/gisaxs has no command mesh: an older binary" >&2; exit 1; }
out="$OUT/gisaxs"; mkdir -p "$out"; repo=$PWD
say() { echo "[$(date +%T)] $*"; }
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$out/cache}
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=$(dirname "$lib")
fi
say "counters of the processor"
python3 - <<'P' > "$out/perf_event.txt" 2>&1
import ctypes, struct, os
libc = ctypes.CDLL(None, use_errno=True)
for name, kind, config in (("instructions", 0, 1), ("cycles", 0, 0), ("task clock", 1, 1)):
    attr = struct.pack("IIQ", kind, 112, config) + bytes(96)
    fd = libc.syscall(298, ctypes.create_string_buffer(attr, 112), 0, -1, -1, 0)
    print(name, "available" if fd >= 0 else os.strerror(ctypes.get_errno()))
print("perf_event_paranoid", open("/proc/sys/kernel/perf_event_paranoid").read().strip() if os.path.exists("/proc/sys/kernel/perf_event_paranoid") else "missing")
P
cat "$out/perf_event.txt"
say "threads of the host"
PART=scaling ROUNDS=2 OUT="$out" timeout 150 bash apps/gisaxs/benches/threads.sh "$BIN" 2>&1 | tail -12
say "processes x threads x pinning"
PART=affinity SECONDS_OF_AFFINITY=35 OUT="$out" timeout 50 bash apps/gisaxs/benches/threads.sh "$BIN" 2>&1 | tail -24
say "table III on the whole host: the last cases may be cut off"
timeout -s INT 40 "$BIN/gisaxs" study --cases all --method direct --window 0.05 --pin balanced -o "$out/study_host.json" > "$out/study_host.txt" 2>&1
tail -12 "$out/study_host.txt"
say "GPUs: unroll factors (1), phases (1), blend of 7.5 million triangles (0 and 1)"
k=apps/gisaxs/src/kernels/gpu
( CUDA_VISIBLE_DEVICES=1 timeout 60 "$BIN/greenup" tune $k/problem.toml --strategy exhaustive --measure 0.2 --finalists 1 --budget 55s --out "$out/unroll" \
    --set every_block=1 --set dim_y=64 --set dim_z=4 --set per_y=1,4 --set per_z=1,2 --set tile=64 --set buffers=1 --set steps=1,2,4,8,16,32,64 \
    --set sine=1 --set by_hand=0 --set h_y=1024 --set h_z=512 --set h_t=2048 > "$out/unroll.txt" 2>&1; tail -5 "$out/unroll.txt"
  CUDA_VISIBLE_DEVICES=1 timeout 40 "$BIN/greenup" tune $k/unfused.toml --strategy exhaustive --measure 0.2 --finalists 1 --budget 35s --out "$out/phases" \
    --set dim_y=64 --set dim_z=4 --set steps=1,4,16 > "$out/phases.txt" 2>&1; tail -5 "$out/phases.txt" ) &
work=$(mktemp -d); cd "$work"
timeout 40 "$BIN/gisaxs" mesh bicontinuous --triangles 7.5e6 --size 200 200 200 --seed 1 -o blend.stl --json > "$out/blend_mesh.json" 2> "$out/blend.err"; tail -3 "$out/blend.err"
printf "shape = 'mesh'\nfile = 'blend.stl'\n" > blend.toml
blend() { # DEVICE METHOD PRECISION
    local name=blend_$(echo "$1_$2" | tr ':,' '__')
    timeout 60 "$BIN/gisaxs" form-factor blend.toml --grid 0 -1:1:4000 0.1:1.1:2000 --im-qz 0.001 --quadrature one --accuracy 1e-4 --method $2 \
        --precision $3 --device $1 --repeat 2 -o f_$2.npy --json > "$out/$name.json" 2> "$out/$name.err"
    tail -2 "$out/$name.err"; cut -c1-600 "$out/$name.json"
}
blend cuda:0 gemm f16x2
blend cuda:0 nufft f32
wait
blend cuda:0,1 gemm f16x2
python3 - <<'P' > "$out/blend_methods.txt" 2>&1
import array
def read(name):
    data = open(name, "rb").read(); a = array.array("d"); a.frombytes(data[data.index(b"\n") + 1:]); return a
a, b = read("f_gemm.npy"), read("f_nufft.npy")
# Every 37th number: seconds in Python.
off = max(abs(x - y) for x, y in zip(a[::37], b[::37])); top = max(map(abs, a[::37]))
print(f"GEMM against the nonuniform transform: {off/top:.2e} of the largest F")
P
cat "$out/blend_methods.txt"
cd "$repo"; rm -rf "$work"
say "direct sums on one and two GPUs"
timeout 30 "$BIN/gisaxs" study --scaling --device cuda:0,1 --method direct --no-energy -o "$out/gpus_direct.json" > "$out/gpus_direct.txt" 2>&1; tail -4 "$out/gpus_direct.txt"
find "$out" -name cache -prune -exec rm -rf {} \; ; du -sh "$out"
say "done"
