#!/usr/bin/env bash
# Slow-memory bandwidth and arithmetic peaks against STREAM, in turn on one host.
# Usage: stream.sh GREENUP STREAM-BINARY; STREAM built by
#   gcc -O3 -march=native -fopenmp -DSTREAM_ARRAY_SIZE=24000000 -DNTIMES=30 stream.c
set -euo pipefail
greenup=$1 stream=$2 dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
cores=$(nproc)
for round in 1 2 3 4 5; do
    echo "round $round"
    "$stream" | awk '/^(Copy|Triad):/ {printf "  STREAM %s %.1f GB/s\n", $1, $2 / 1e3}'
    "$greenup" calibrate --quick --name round -o "$dir/m.toml" --records "$dir/r.csv" >/dev/null 2>&1
    awk -F, -v threads="$cores threads" '
        NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i}
        $column["setting"] == threads && $column["benchmark"] ~ /^(copy|triad|read) DRAM$/ {
            printf "  greenup %s %.1f GB/s\n", $column["benchmark"], $column["dram"] / $column["time_s"] / 1e9}' "$dir/r.csv"
    "$stream" | awk '/^(Copy|Triad):/ {printf "  STREAM %s %.1f GB/s\n", $1, $2 / 1e3}'
    sed -n 's/^peak_/  peak /p' "$dir/m.toml"
done
