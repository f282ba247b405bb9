#!/usr/bin/env bash
# gisaxs on one and two GPUs: same bytes, speed, joules. Usage: gpus.sh BIN_DIR (with the binary gisaxs). Writes raw output
# to $OUT and prints a table. Needs two GPUs, NVRTC and python3. PART: bytes, scaling (times only, within a minute), energy,
# fit, images, or several of them; all but energy by default.
set -u
bin=$(cd "$1" && pwd)/gisaxs
: "${OUT:=target/gisaxs_gpus}"; mkdir -p "$OUT"; OUT=$(cd "$OUT" && pwd)
if [ -z "${GREENUP_CUDA:-}" ]; then
    lib=$(find / -xdev -name 'libnvrtc.so.1[23]*' -not -path '*/alt*' 2>/dev/null | sort | tail -1)
    [ -n "$lib" ] && export GREENUP_CUDA=$(dirname "$lib")
fi
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$work/cache} XDG_DATA_HOME=$work/data
cd "$work" || exit 1
nvidia-smi --query-gpu=index,name,driver_version,memory.used --format=csv,noheader | tee "$OUT/gpus.txt"
exec python3 - "$bin" "$OUT" "${PART:-bytes scaling fit images}" <<'PY'
import array, concurrent.futures as cf, json, math, os, statistics, subprocess, sys, time

gisaxs, out = sys.argv[1:3]
part = set(sys.argv[3].replace(",", " ").split())
unknown = part - {"bytes", "scaling", "energy", "fit", "images"}
if unknown or not part: sys.exit(f"unknown PART {' '.join(unknown)}")
begin, failed = time.time(), []
log = open(os.path.join(out, "gpus.jsonl"), "w", buffering=1)

def run(args, limit=100, quiet=False):
    t = time.time()
    try:
        p = subprocess.run([gisaxs] + args, capture_output=True, text=True, timeout=limit)
        code, so, se = p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        code, so, se = 124, "", f"longer than {limit} s"
    rec = {"args": args, "rc": code, "process_s": round(time.time() - t, 3)}
    try: rec["json"] = json.loads(so)
    except ValueError: rec["text"] = (so + se)[-2000:]
    log.write(json.dumps(rec) + "\n")
    if code and not quiet:
        failed.append(" ".join(args))
        print("FAILED", " ".join(args), (se or so)[-400:], flush=True)
    return rec

def check(ok, what):
    if not ok: failed.append(what)
    print("same" if ok else "DIFFERENT", what, flush=True)

def read(name):
    with open(name, "rb") as f: return f.read()

def ball(name, rows, columns, r=10.0):
    with open(name, "w") as f:
        f.write(f"v 0 0 {2*r}\n")
        for i in range(1, rows):
            s, c = math.sin(math.pi*i/rows), math.cos(math.pi*i/rows)
            f.writelines(f"v {r*s*math.cos(2*math.pi*j/columns):.12g} {r*s*math.sin(2*math.pi*j/columns):.12g} {r*(1+c):.12g}\n"
                         for j in range(columns))
        f.write("v 0 0 0\n")
        last, at = 2 + (rows-1)*columns, lambda i, j: 2 + (i-1)*columns + j % columns
        for j in range(columns):
            f.write(f"f 1 {at(1,j)} {at(1,j+1)}\n")
            for i in range(1, rows-1):
                f.write(f"f {at(i,j)} {at(i+1,j)} {at(i+1,j+1)}\nf {at(i,j)} {at(i+1,j+1)} {at(i,j+1)}\n")
            f.write(f"f {at(rows-1,j)} {last} {at(rows-1,j+1)}\n")

def scene(n, mesh):
    return ("background = 0.5\n[beam]\nwavelength = 0.1\nangle = 0.2\nintensity = 1e9\n[detector]\n"
            f"phi = {{ from = -1.2, to = 1.3, n = {n} }}\nalpha = {{ from = -0.1, to = 1.7, n = {n} }}\n"
            "[[layers]]\n[[layers]]\ndelta = 6e-6\nbeta = 2e-8\n[[particles]]\n"
            f'form = {{ shape = "mesh", file = "{mesh}", scale = 1.0 }}\ndelta = 3e-5\nbeta = 2e-6\ndensity = 0.002\n')

ball("small.obj", 41, 62)      # 4,960 triangles
if "images" in part: ball("large.obj", 192, 240)    # 91,680
open("shape.toml", "w").write('shape = "mesh"\nfile = "small.obj"\n')
for n in (203, 2048, 4096): open(f"scene{n}.toml", "w").write(scene(n, "small.obj" if n < 1000 else "large.obj"))
open("q.csv", "w").write("qx,qy,qz_re,qz_im\n" + "".join(
    f"{0.0005*i},{math.sin(0.7*i)},{0.001*i},{1e-3*(i%3)}\n" for i in range(3000)))

# (a) Same bytes on one GPU, the other, both, and two ranks; near the CPU.
ONE, TWO = ["--device", "cuda:0"], ["--device", "cuda:0,1"]
grid = ["form-factor", "shape.toml", "--grid", "0.1", "-1.5:1.5:401", "0:2:203", "--im-qz", "0.01"]
even = ["form-factor", "shape.toml", "--grid", "0", "-1.5:1.5:400", "0:2:203"]
listed = ["form-factor", "shape.toml", "--q", "q.csv"]
image = ["simulate", "scene203.toml"]
cases = [(grid, ["nufft", "f64"]), (grid, ["nufft", "f32"]), (grid, ["direct", "f32"]), (grid, ["direct", "f64"]),
         (grid, ["gemm", "f32"]), (grid, ["gemm", "f64"]), (even, ["gemm", "f16x2"]), (grid, ["gemm", "f16x2"]),
         (listed, ["nufft", "f64"]), (listed, ["direct", "f32"]),
         (image, ["nufft", "f64"]), (image, ["direct", "f32"]), (image, ["direct", "f64"])]

def result(n, what, how, device, extra=()):
    end = "csv" if what is listed else "npy"
    name = f"a{n}_{'_'.join(device + list(extra)).replace('--','').replace(':','').replace(',','+')}.{end}"
    loose = ["--accuracy", "1e-6"] if how[1] != "f64" else []
    if how == ["gemm", "f64"]: loose = ["--memory", "8G"]   # factors of all nodes
    run(what + ["--method", how[0], "--precision", how[1], "-o", name, "--json"] + loose + device + list(extra))
    return name

def same(n, what, how):
    names = [result(n, what, how, ONE), result(n, what, how, TWO), result(n, what, how, ["--device", "cuda:1"])]
    if what is not listed: names.append(result(n, what, how, TWO, ["--ranks", "2"]))
    return n, what, how, names

def numbers(name):
    if name.endswith("csv"):
        return [float(x) for line in read(name).decode().splitlines()[1:] for x in line.split(",")[4:]]
    data = read(name); a = array.array("d"); a.frombytes(data[data.index(b"\n") + 1:]); return a

# Kernels are compiled once, then found in the cache.
with cf.ThreadPoolExecutor(6) as pool:
    done = list(pool.map(lambda c: same(c[0], *c[1]), enumerate(cases if "bytes" in part else [])))
def whole(name):
    data = numbers(name); return data, max(map(abs, data))

label = {id(grid): "grid", id(even): "grid, symmetric q_y", id(listed): "list of q", id(image): "image"}
cpu = {}
for what in (grid, even, listed, image) if "bytes" in part else ():
    end = "csv" if what is listed else "npy"
    name = f"cpu_{len(cpu)}.{end}"
    run(what + ["--method", "nufft", "--accuracy", "1e-9", "-o", name, "--json"])
    try: cpu[id(what)] = whole(name)
    except (OSError, ValueError) as e: check(False, f"{label[id(what)]} on the CPU: {e}")
for n, what, how, names in done:
    title = f"{label[id(what)]}, {' '.join(how)}"
    try:
        first = read(names[0])
        check(all(read(x) == first for x in names), f"{title}: bytes of GPU 0, GPUs 0 and 1, GPU 1" +
              (", two ranks" if len(names) > 3 else ""))
        want, top = cpu[id(what)]
        off = max(abs(a - b) for a, b in zip(numbers(names[0]), want)) / top
        most = 1e-6 if how[1] == "f64" or how[0] == "nufft" else 1e-4
        print(f"     off the CPU by {off:.1e} of the largest", flush=True)
        if not off <= most: failed.append(f"{title}: off by {off:.1e}")
    except (OSError, ValueError, KeyError) as e:
        check(False, f"{title}: {e}")
print(f"[{time.time()-begin:.0f} s]", flush=True)

# (b) 7.5 million triangles, one and two GPUs, interleaved.
def scaling(extra, limits, title):
    rows = []
    for method, limit in limits:
        rec = run(["study", "--scaling", "--device", "cuda:0,1", "--method", method, "--json",
                   "-o", os.path.join(out, f"{title}_{method}.json")] + extra, limit)
        rows += rec.get("json", {}).get("rows", [])
        print(f"{title} {method}: {rec['process_s']:.1f} s", flush=True)
    keys = ("prepare_s", "prepare_kernel_s", "evaluation_s", "upload_s", "kernel_s", "download_s", "host_s", "whole_s")
    print("method  triangles        q  GPUs " + "".join(f"{k.replace('prepare_kernel_s', 'its kernels')[:12]:>13}" for k in keys) +
          "  speedup: kernels  evaluation  whole  joules  same bits")
    for r in rows:
        total = " + ".join(f"{j:.1f}" for j in r["energy_j"] or []) or "-"
        print(f"{r['case']['method']:6} {r['triangles']:10} {r['points']:8} {r['gpus']:5} " + "".join(f"{r[k]:13.4f}" for k in keys) +
              f"  {r['kernel_speedup']:16.3f} {r['evaluation_speedup']:11.3f} {r['whole_speedup']:6.3f}  {total:>7}  {r['same_bits']}")
        if not r["same_bits"]: failed.append(f"scaling {r['case']['method']}: other bits on {r['gpus']} GPUs")
    print(f"[{time.time()-begin:.0f} s]", flush=True)
if "scaling" in part: scaling(["--no-energy"], (("gemm", 60), ("nufft", 30), ("direct", 30)), "scaling")
if "energy" in part: scaling(["--rounds", "1"], (("gemm", 75), ("nufft", 45), ("direct", 40)), "energy")

# (d) A fit: models over GPUs.
if "fit" in part:
    sample = scene(203, "small.obj")
    open("fit_scene.toml", "w").write(sample)
    run(["simulate", "fit_scene.toml", "--counts", "3", "-o", "data.npy", "--json"])
    open("fit.toml", "w").write("sample = 'fit_scene.toml'\ndata = 'data.npy'\nswarm = 12\nsteps = 4\n"
        "[[parameters]]\npath = 'particles.0.form.scale'\nfrom = 0.85\nto = 1.2\n"
        "[[parameters]]\npath = 'beam.intensity'\nfrom = 1e8\nto = 1e10\nlog = true\n")
    fits = {}
    for name, args in (("1 GPU", ONE), ("2 GPUs", TWO), ("2 ranks, 2 GPUs", TWO + ["--ranks", "2"]), ("cores", [])):
        j = run(["fit", "fit.toml", "--json"] + args, 60).get("json")
        if j: fits[name] = j
    strip = lambda j: {k: v for k, v in j.items() if k not in ("seconds", "provenance", "ranks", "file")}
    for name, j in fits.items():
        print(f"fit, {name}: {j['seconds']:.2f} s, {j['models']} models, chi2 {j['chi2']:.4f}")
    for name in ("2 GPUs", "2 ranks, 2 GPUs"):
        if name in fits and "1 GPU" in fits: check(strip(fits[name]) == strip(fits["1 GPU"]), f"fit: digits of 1 GPU and {name}")
    print(f"[{time.time()-begin:.0f} s]", flush=True)

# (c) Large images.
for n, how in () if "images" not in part else ((4096, ["--method", "nufft", "--accuracy", "1e-7"]), (2048, ["--method", "direct", "--precision", "f32",
               "--accuracy", "1e-4", "--quadrature", "one"])):
    times = {}
    for r in range(3):
        for name, device in (("1 GPU", ONE), ("2 GPUs", TWO)):
            if time.time() - begin > 165: continue
            j = run(["simulate", f"scene{n}.toml", "-o", f"image{name[0]}.npy", "--json"] + how + device, 60).get("json")
            if j: times.setdefault(name, []).append(j["seconds"])
    for name, t in times.items():
        print(f"image {n} x {n}, {how[1]}, {name}: median {statistics.median(t):.3f} s of {[round(x, 3) for x in t]}")
    if len(times) == 2: check(read("image1.npy") == read("image2.npy"), f"image {n} x {n}, {how[1]}: bytes of 1 and 2 GPUs")
print(f"[{time.time()-begin:.0f} s] " + ("FAILED: " + "; ".join(failed) if failed else "all checks passed"))
sys.exit(bool(failed))
PY
