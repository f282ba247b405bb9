#!/usr/bin/env bash
# Fuzzes the targets one after the other: fuzz/run.sh [SECONDS] [TARGET...], 60 seconds each, all of them by default.
# RUNS=N ends a target after N inputs instead. What fails lies in fuzz/artifacts/TARGET; the exit code is then 1.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | tail -n +2)
fi
limit=(-max_total_time="$seconds")
if [ -n "${RUNS:-}" ]; then
    limit=(-runs="$RUNS")
fi

# Coverage alone, on the stable toolchain. `cargo fuzz run TARGET` adds the address sanitizer; it needs nightly.
coverage="--cfg fuzzing -Cpasses=sancov-module"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
    coverage+=" -Cllvm-args=-sanitizer-coverage-$option"
done
# The same versions as the programs'.
cp ../Cargo.lock Cargo.lock
host=$(rustc -vV | sed -n 's/^host: //p')
# With a target named, build scripts are spared the flags.
RUSTFLAGS="$coverage" cargo build --quiet --release --target "$host"
binaries="${CARGO_TARGET_DIR:-target}/$host/release"

# Files of the targets stay in memory.
memory=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
trap 'rm -r "$memory"' EXIT
export TMPDIR="$memory" RAYON_NUM_THREADS=1

failed=0
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    log="$memory/log"
    "$binaries/$target" "corpus/$target" "seeds/$target" "${limit[@]}" \
        -artifact_prefix="artifacts/$target/" -timeout="${TIMEOUT:-1}" -rss_limit_mb=1024 \
        -malloc_limit_mb=1000 -max_len=4096 -print_final_stats=1 -verbosity="${VERBOSITY:-1}" >"$log" 2>&1 ||
        { failed=1 && echo "$target: FAILED" && tail -n 40 "$log"; }
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    echo "$target: $(stat number_of_executed_units) inputs, $(stat average_exec_per_sec)/s," \
        "slowest $(stat slowest_unit_time_sec) s, peak $(stat peak_rss_mb) MB"
done
exit $failed
