#!/usr/bin/env bash
# fmm on a GPU beside the cores, against the GPU alone and the cores alone: time, and joules of the board.
# Usage: OUT=FOLDER hybrid.sh BIN_DIR; BIN_DIR holds fmm. DEVICE=cuda:N, CPUS=0-15 (cores to use), SECONDS_EACH=40.
# Joules of sizes from MEASURED points on (default 10^7).
set -uo pipefail
fmm=$1/fmm out=${OUT:-$(mktemp -d)} device=${DEVICE:-cuda:0}
mkdir -p "$out"
pin=
[ -n "${CPUS:-}" ] && pin="taskset -c $CPUS"
wrong=0

# A value of a JSON file: section and key.
value() {
    tr -d ' \n' <"$1" | sed -E "s/.*\"$2\":\{//" | grep -oE "\"$3\":[^,}]*" | head -1 | cut -d: -f2-
}
median() { tr -d ' \n' <"$1" | sed -E "s/.*\"measured\":\{//" | grep -oE "\"$2\":\{[^}]*\}" | head -1 | grep -oE '"median":[^,}]*' | cut -d: -f2; }

echo "n precision device ncrit evaluation_s measured_s board_j overlapped_s error"
run() { # n precision accuracy name flags...
    local n=$1 precision=$2 accuracy=$3 name=$4
    shift 4
    local file=$out/${name}_${precision}_$n.json
    $pin timeout "${SECONDS_EACH:-40}" "$fmm" run -n "$n" --precision "$precision" -a "$accuracy" --repeat 2 --check 100 --json "$@" \
        >"$file" 2>"${file%.json}.err" || { echo "$name $precision $n FAILED"; cat "${file%.json}.err"; wrong=1; return; }
    echo "$n $precision $name $(tr -d ' \n' <"$file" | grep -oE '"ncrit":[0-9]+' | tail -1 | cut -d: -f2) $(value "$file" timings evaluation_s)" \
        "$(median "$file" time_s) $(median "$file" energy_j) $(value "$file" phases overlapped_s) $(value "$file" errors potential)" |
        tee -a "$out/hybrid.txt"
}

for n in ${SIZES:-1000000 10000000}; do
    for precision in ${PRECISIONS:-f32 f64}; do
        accuracy=1e-6
        [ "$precision" = f32 ] && accuracy=1e-4
        measure=
        [ "$n" -ge "${MEASURED:-10000000}" ] && measure=--measure
        run "$n" $precision $accuracy both --device "$device+cpu" $measure
        grep -h balancing "$out/both_${precision}_$n.err"
        run "$n" $precision $accuracy gpu --device "$device" $measure
        run "$n" $precision $accuracy cpu --device cpu
    done
done
exit $wrong
