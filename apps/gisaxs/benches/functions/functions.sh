#!/usr/bin/env bash
# Our exponential, sine and cosine against glibc's vector library, on one core: a JSON list for the widths of vectors that this
# CPU has. Needs gcc and glibc 2.35 or newer. Usage: functions.sh > functions.json
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
same="-O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math -Wno-psabi"
widths=32; grep -q avx512dq /proc/cpuinfo && widths="64 32"
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
glibc=$(ldd --version | head -1); compiler=$(gcc --version | head -1)
echo "{\"device\": \"$model\", \"glibc\": \"${glibc##* }\", \"compiler\": \"$compiler\", \"command\": \"apps/gisaxs/benches/functions/functions.sh\", \"runs\": ["
comma=
for width in $widths; do
    for bits in 32 64; do
        prefer=$((8 * width))
        gcc $same -mprefer-vector-width=$prefer -ffast-math -c "$here/by_compiler.c" -o "$work/by_compiler.o"
        gcc $same -DVBYTES=$width -DBITS=$bits "$here/functions.c" "$work/by_compiler.o" -lmvec -lm -o "$work/functions"
        echo "$comma"; "$work/functions"; comma=,
    done
done
echo "]}"
