#!/usr/bin/env bash
# What the winner of the nearest other device loses: tables of docs/results/wisdom.md. The folder has the hub's sweeps.
#   docs/results/wisdom.sh GREENUP FOLDER
set -eu
greenup="$1" hub="$2"
cd "$(dirname "$0")/../.."
for kind in "1 1" "1 0" "0 0"; do
    read -r shared padded <<<"$kind"
    "$greenup" wisdom transfer "$hub"/convolution_*.json.gz --facts docs/results/data/wisdom/devices.toml \
        --default block_size_x=16 --default block_size_y=16 --default tile_size_x=1 --default tile_size_y=1 --default read_only=0 \
        --default use_shmem="$shared" --default use_padding="$padded" --default use_cmem=1 --default filter_height=15 --default filter_width=15
done
"$greenup" wisdom transfer "$hub"/dedispersion_*.json.gz --facts docs/results/data/wisdom/devices.toml
