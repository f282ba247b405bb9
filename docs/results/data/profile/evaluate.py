"""Compares profiles: sums with the meter's, times with the profiler's, run times with and without."""
import json
import statistics
import sys
from pathlib import Path

out = Path(sys.argv[1])
result = {}


def profile(name):
    path = out / name / "profile.json"
    return json.loads(path.read_text()) if path.exists() else None


for name in ["torch", "cublas", "torch_time", "cublas_time"]:
    p = profile(name)
    if not p or not p["gpus"]:
        print(f"{name}: no profile")
        continue
    g = p["gpus"][0]
    total = sum(r["joules"] or 0 for r in g["kernels"] + g["others"])
    inside = g["window"]["joules"]
    line = {
        "wall_s": p["wall_s"],
        "window_s": g["window"]["to_s"] - g["window"]["from_s"],
        "measured_j": g["measured_j"],
        "attributed_over_measured": g["measured_j"] and total / g["measured_j"],
        "window_j": inside,
        "model_j": g["model_j"],
        "model_over_window": inside and g["model_j"] and g["model_j"] / inside,
        "counted_share": g["counted_share"],
        "clock_hz": g["clock_hz"],
        "busy": g["busy_s"] / (g["busy_s"] + g["gap_s"]),
        "kernels": len(g["kernels"]),
        "machine": g["machine"],
    }
    result[name] = line
    print(name, json.dumps(line))

# Medians of CUPTI against those of ncu, for kernels with more than 1 % of the time.
for name, timed in [("torch", "torch"), ("torch", "torch_paused"), ("cublas", "cublas"), ("cublas", "cublas_paused")]:
    a, b = profile(name), profile(timed)
    if not a or not b or not a["gpus"] or not b["gpus"]:
        continue
    key = lambda r: (r["symbol"], tuple(r["grid"]), tuple(r["block"]))
    ncu = {key(r): r for r in a["gpus"][0]["kernels"]}
    g = b["gpus"][0]
    rows = []
    for r in g["kernels"]:
        # Rows of one profile are compared with themselves: launches of one key may be several rows.
        n = r if timed == name else ncu.get(key(r))
        if not n or not n["profiler_s"] or r["share_s"] < 0.01 * g["busy_s"]:
            continue
        rows.append((r["median_s"] / n["profiler_s"] - 1, r["name"], r["median_s"], n["profiler_s"], n["counted"], r["least_s"], r["longest_s"]))
    rows.sort(key=lambda r: -abs(r[0]))
    for d, kernel, ours, theirs, counted, least, longest in rows:
        print(f"  {timed:14} {100 * d:+6.2f} %  {1e6 * ours:9.2f} µs  ncu {1e6 * theirs:9.2f} µs ({counted})  [{1e6 * least:.1f} {1e6 * longest:.1f}]  {kernel[:60]}")
    if rows:
        result[f"times_{timed}"] = {
            "kernels": len(rows),
            "worst": rows[0][0],
            "median_abs": statistics.median(abs(r[0]) for r in rows),
            "within_3_percent": sum(abs(r[0]) <= 0.03 for r in rows),
        }
        print(timed, json.dumps(result[f"times_{timed}"]))

for name in ["torch", "cublas"]:
    path = out / f"overhead_{name}.jsonl"
    if path.exists():
        runs = [json.loads(l) for l in path.read_text().splitlines()]
        of = lambda how, what: [r[what] for r in runs if r["how"] == how]
        for what in ["wall_s", "loop_s"]:
            a, b = of("plain", what), of("profiled", what)
            if a and b:
                m = lambda v: statistics.median(v)
                line = {"plain": m(a), "profiled": m(b), "overhead": m(b) / m(a) - 1, "plain_range": [min(a), max(a)], "profiled_range": [min(b), max(b)], "n": [len(a), len(b)]}
                result[f"overhead_{name}_{what}"] = line
                print(f"overhead {name} {what}", json.dumps(line))
(out / "summary.json").write_text(json.dumps(result, indent=1))
