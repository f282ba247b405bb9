#!/usr/bin/env bash
# fmm on two GPUs of a host: the same bits as on one, and the time and energy of both.
# Also points distributed over both, in turn with all points on each. PARTS=c runs only that part.
# Usage: OUT=FOLDER gpus.sh BIN_DIR; BIN_DIR holds fmm. About three minutes.
set -euo pipefail
fmm=$1/fmm out=${OUT:-$(mktemp -d)}
n=${N:-40000000} rounds=${ROUNDS:-3}
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version,power.limit --format=csv | tee "$out/gpus.txt"
nproc | sed 's/$/ cores/' | tee -a "$out/gpus.txt"

# A value of a JSON file by the end of its path, such as timings.evaluation_s.
value() {
    tr -d ' \n' <"$1" | sed -E "s/.*\"$2\":\{//" | grep -oE "\"$3\":(\[[^]]*\]|[^,}]*)" | head -1 | cut -d: -f2-
}

wrong=0
run() {
    local file=$out/$1.json
    shift
    "$fmm" run -n "$n" --precision f32 --accuracy 1e-4 --json "$@" >"$file" 2>"${file%.json}.err" ||
        { cat "${file%.json}.err"; wrong=1; }
}

if [ "${PARTS:-abc}" != c ]; then
echo "== the same bits on one GPU and on two: a million points"
for precision in f64 f32; do
    accuracy=1e-6
    [ $precision = f32 ] && accuracy=1e-4
    for device in cuda:0 cuda:1 cuda:0,1; do
        name=bits_${precision}_${device/cuda:/}
        "$fmm" run -n 1000003 --distribution clusters --precision $precision --accuracy $accuracy --gradient --device "$device" \
            --order 6 --check 100 --json -o "$out/$name.npy" >"$out/$name.json" 2>"$out/$name.err" ||
            { cat "$out/$name.err"; wrong=1; continue; }
        sum=$(md5sum <"$out/$name.npy" | cut -d' ' -f1)
        rm -f "$out/$name.npy"
        echo "$precision $device error $(value "$out/$name.json" errors potential) md5 $sum" | tee -a "$out/bits.txt"
    done
    distinct=$(grep "^$precision" "$out/bits.txt" | awk '{print $NF}' | sort -u | wc -l)
    [ "$distinct" = 1 ] && echo "$precision: the same bits" || { echo "$precision: DIFFERENT"; wrong=1; }
done

echo "== $n points, f32, 1e-4: seconds of the fastest of 3 evaluations, in turn"
echo "device      evaluation   compute  permutation transfers gather  set-up (sort tree lists)"
for round in $(seq "$rounds"); do
    for device in cuda:0 cuda:0,1; do
        file=speed_${device/cuda:/}_$round
        run "$file" --repeat 3 --device $device
        t() { value "$out/$file.json" timings "$1"; }
        s() { value "$out/$file.json" setup_times "$1"; }
        setup=$(tr -d ' \n' <"$out/$file.json" | grep -oE '"setup_s":[^,}]*' | head -1 | cut -d: -f2)
        echo "$device $(t evaluation_s) $(t compute_s) $(t permutation_s) $(t transfers_s) $(t gather_s) $setup $(s sort_s) $(s tree_s) $(s lists_s)" |
            tee -a "$out/speed.txt"
    done
done
awk '{k = $1; e[k, ++c[k]] = $2; d[k, c[k]] = $3}
    function median(a, k,  i, j, t, x) {
        for (i = 1; i <= c[k]; i++) x[i] = a[k, i]
        for (i = 1; i <= c[k]; i++) for (j = i + 1; j <= c[k]; j++) if (x[j] < x[i]) {t = x[i]; x[i] = x[j]; x[j] = t}
        return x[int((c[k] + 1) / 2)]
    }
    END {
        one = median(e, "cuda:0"); two = median(e, "cuda:0,1"); done = median(d, "cuda:0"); dtwo = median(d, "cuda:0,1")
        printf "evaluation %.4f s -> %.4f s: %.2f times; phases alone %.4f s -> %.4f s: %.2f times\n", one, two, one / two, done, dtwo, done / dtwo
    }' "$out/speed.txt" | tee "$out/summary.txt"

echo "== joules of repeated evaluations, without transfers"
for device in cuda:0 cuda:0,1; do
    file=energy_${device/cuda:/}
    run "$file" --measure --device $device
    if [ $device = cuda:0 ]; then
        flat=$(tr -d ' \n' <"$out/$file.json" | sed -E 's/.*"measured":\{//')
        part() { echo "$flat" | grep -oE "\"$1\":\{[^}]*\}" | head -1 | grep -oE '"median":[^,}]*' | cut -d: -f2; }
        echo "$device time $(part time_s) s, energy $(part energy_j) J" | tee -a "$out/summary.txt"
    else
        b() { value "$out/$file.json" boards "$1"; }
        echo "$device time of each $(b time_s) s, energy of each $(b energy_j) J, all $(b total_j) J" | tee -a "$out/summary.txt"
    fi
done
fi

echo "== points distributed over two GPUs: the bits of one"
for device in cuda:0 cuda:0,1 cuda:0,0,1; do
    flag=
    [ $device != cuda:0 ] && flag=--distributed
    name=distributed_bits_${device/cuda:/}
    "$fmm" run -n 1000003 --distribution clusters --precision f32 --accuracy 1e-4 --device $device $flag --check 100 --json \
        -o "$out/$name.npy" >"$out/$name.json" 2>"$out/$name.err" || { cat "$out/$name.err"; wrong=1; continue; }
    sum=$(md5sum <"$out/$name.npy" | cut -d' ' -f1)
    rm -f "$out/$name.npy"
    echo "$device $flag error $(value "$out/$name.json" errors potential) md5 $sum" | tee -a "$out/distributed_bits.txt"
done
distinct=$(awk '{print $NF}' "$out/distributed_bits.txt" | sort -u | wc -l)
[ "$distinct" = 1 ] && echo "the same bits" || { echo "DIFFERENT"; wrong=1; }

echo "== $n points: one GPU, all points on each of two, points distributed; seconds of the fastest of 3 evaluations, in turn"
echo "way evaluation compute exchange permutation transfers gather set-up (sort tree lists operators) imbalance"
for round in $(seq "$rounds"); do
    for way in one replicated distributed; do
        file=way_${way}_$round device=cuda:0,1 flag=
        [ $way = one ] && device=cuda:0
        [ $way = distributed ] && flag=--distributed
        run "$file" --repeat 3 --device $device $flag
        t() { value "$out/$file.json" timings "$1"; }
        s() { value "$out/$file.json" setup_times "$1"; }
        all() { tr -d ' \n' <"$out/$file.json" | grep -oE "\"$1\":[^,}]*" | head -1 | cut -d: -f2; }
        echo "$way $(t evaluation_s) $(t compute_s) $(t exchange_s) $(t permutation_s) $(t transfers_s) $(t gather_s)" \
            "$(all setup_s) $(s sort_s) $(s tree_s) $(s lists_s) $(s operators_s) $(all imbalance)" | tee -a "$out/ways.txt"
    done
done
if [ -n "${LARGE:-}" ]; then
    n=$LARGE
    run large_distributed --device cuda:0,1 --distributed
    echo "distributed, $LARGE points: $(value "$out/large_distributed.json" timings evaluation_s) s" | tee -a "$out/ways.txt"
fi
[ $wrong = 0 ] && echo "all done: $out" || { echo "SOMETHING WENT WRONG: $out"; exit 1; }
