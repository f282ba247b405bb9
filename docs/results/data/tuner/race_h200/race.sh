# The template's problem in three ways; OUT is a folder for the results.
set -e
W=$(mktemp -d); cd $W; greenup init cuda t >/dev/null; cd t
export GREENUP_WISDOM=none
n=0
for e in front all front; do
 n=$((n+1))
 f=5; [ $n = 3 ] && f=0
 greenup tune problem.toml --strategy exhaustive --budget 100% --energy $e --finalists $f --out s$n --json > $OUT/$n-$e.json
 cp s$n/trials.jsonl $OUT/$n-$e.jsonl
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader > $OUT/gpu.txt
