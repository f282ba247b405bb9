# Errors of surrogate models from 10 % of a sweep, six samples. Run in the root of a checkout.
# Usage: docs/results/data/tuner/predict.sh GREENUP OUT.csv SWEEP…
greenup=$1; out=$2; shift 2
echo "sweep,seed,sample,held_out,model,mean_error,median_error,tried,best_fraction" > "$out"
for sweep in "$@"; do
    for seed in 1 2 3 4 5 6; do
        "$greenup" analyze "$sweep" --seed $seed --json | python3 -c '
import json, sys
a = json.load(sys.stdin)["learnt_time"]
keys = "sample held_out model mean_error median_error tried best_fraction".split()
if a: print(sys.argv[1], sys.argv[2], *(a[k] for k in keys), sep=",")' "$(basename "$sweep")" $seed >> "$out"
    done
done
