#!/usr/bin/env python3
"""Two builds in turns: do they give the same digits, and how do their times compare?

compare_builds.py BEFORE AFTER [ROUNDS]   (folders with greenup, hydro, gisaxs and fmm)

Case by case the builds run in turns, the order changing from round to round. Prints the median of each, the
median of the ratios after/before with their quartiles, and whether all results are the same. Everything goes to
compare_builds.json in the working folder too.
"""
import hashlib, json, os, statistics, subprocess, sys, tempfile

before, after = (os.path.abspath(p) for p in sys.argv[1:3])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
here = os.path.dirname(os.path.abspath(__file__))
spaces = os.path.join(here, "../../crates/space/tests/data/spaces")
EIGHT = "dedispersion expdist hotspot gemm_clblast atf_prl_2x2 atf_prl_4x4 cltune_gemm beast_dgemm_k20x"
work = tempfile.mkdtemp()
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")

SAMPLE = """
[beam]
wavelength = 0.1
angle = 0.2
[detector]
phi = { from = -0.6, to = 0.6, n = 512 }
alpha = { from = 0.0, to = 0.8, n = 512 }
[[layers]]
[[layers]]
delta = 6e-6
beta = 2e-8
[[particles]]
form = FORM
delta = 9.6e-6
beta = 3.4e-8
density = 0.001
"""
# A distorted octahedron with its faces cut: 8 n² triangles.
CORNERS = [(0, 0, 0), (9, 1, 10), (-1, 8, 11), (-10, 0, 9), (0, -9, 10), (0, 0, 20)]
FACES = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1)]


def mesh(path, cuts):
    numbers, lines, faces = {}, [], []

    def vertex(p):
        key = tuple(round(x * 1e9) for x in p)
        if key not in numbers:
            numbers[key] = len(numbers) + 1
            lines.append("v %.12g %.12g %.12g\n" % p)
        return numbers[key]

    for face in FACES:
        a, b, c = (CORNERS[i] for i in face)
        at = lambda i, j: vertex(tuple(a[k] + (b[k] - a[k]) * i / cuts + (c[k] - a[k]) * j / cuts for k in range(3)))
        for i in range(cuts):
            for j in range(cuts - i):
                faces.append((at(i, j), at(i + 1, j), at(i, j + 1)))
                if i + j < cuts - 1:
                    faces.append((at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)))
    with open(path, "w") as f:
        f.writelines(lines)
        f.writelines("f %d %d %d\n" % t for t in faces)


mesh(os.path.join(work, "few.obj"), 3)
mesh(os.path.join(work, "many.obj"), 20)
for name, form in [("cylinder", '{ shape = "cylinder", radius = 5.0, height = 10.0 }'),
                   ("few", '{ shape = "mesh", file = "few.obj" }'),
                   ("many", '{ shape = "mesh", file = "many.obj" }')]:
    with open(os.path.join(work, name + ".toml"), "w") as f:
        f.write(SAMPLE.replace("FORM", form))


def call(words):
    out = subprocess.run(words, capture_output=True, text=True, cwd=work)
    if out.returncode:
        sys.exit(f"{' '.join(words)}: {out.stderr}")
    return json.loads(out.stdout)


def hydro(flags):
    def one(folder):
        r = call([f"{folder}/hydro", "run", "--problem", "1", "--t-final", "10", "--json"] + flags.split())
        return r["wall_s"], [r[k] for k in ("steps", "dt", "e_norm", "internal", "kinetic")]
    return one


def digest(name):
    with open(os.path.join(work, name), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def gisaxs(flags):
    def one(folder):
        r = call([f"{folder}/gisaxs", "simulate", "--json", "-o", "out.npy"] + flags.split())
        return r["seconds"], digest("out.npy")
    return one


def fmm(flags):
    def one(folder):
        r = call([f"{folder}/fmm", "run", "--seed", "1", "--json", "-o", "out.npy"] + flags.split())
        return r["evaluation_s"], digest("out.npy")
    return one


def space(folder):
    seconds, counts = 0.0, []
    for name in EIGHT.split():
        # The least of five: a process of a millisecond meets much that is not its own.
        runs = [call([f"{folder}/greenup", "space", f"{spaces}/{name}.json", "--json", "--time", "30"])
                for _ in range(5)]
        seconds += min(r["seconds"] for r in runs)
        counts.append(runs[0]["valid"])
    return seconds, counts


CASES = {
    "hydro 2D, Q2Q1, 64 x 64, 100 steps, matrix-free": hydro("--mesh square01_quad --refine 5 --order 2 --steps 100"),
    "hydro 2D, Q3Q2, 32 x 32, 50 steps, full": hydro("--mesh square01_quad --refine 4 --order 3 --steps 50 --assembly full"),
    "hydro 3D, Q2Q1, 16 x 16 x 16, 15 steps, matrix-free": hydro("--mesh cube01_hex --refine 3 --order 2 --steps 15"),
    "hydro 3D, Q3Q2, 8 x 8 x 8, 10 steps, full": hydro("--mesh cube01_hex --refine 2 --order 3 --steps 10 --assembly full"),
    "gisaxs 512 x 512, cylinder": gisaxs("cylinder.toml"),
    "gisaxs 512 x 512, mesh of 72 triangles, direct": gisaxs("few.toml --method direct --quadrature one"),
    "gisaxs 512 x 512, mesh of 72 triangles, exact": gisaxs("few.toml --method exact"),
    "gisaxs 512 x 512, mesh of 3,200 triangles, nufft 1e-5": gisaxs("many.toml --method nufft --accuracy 1e-5"),
    "fmm, 10^6 in a cube, 1e-6": fmm("-n 1000000 -a 1e-6"),
    "fmm, 10^6 of Plummer, 1e-6, gradients": fmm("-n 1000000 -a 1e-6 --distribution plummer --gradient"),
    "eight published spaces, read, compiled and indexed": space,
}
only = os.environ.get("ONLY", "")
lines = []
for case in (c for c in CASES if only in c):
    times, found = ([], []), (set(), set())
    for r in range(rounds):
        for k in ((0, 1), (1, 0))[r % 2]:
            seconds, result = CASES[case]((before, after)[k])
            times[k].append(seconds)
            found[k].add(json.dumps(result))
    ratios = sorted(y / x for x, y in zip(*times))
    q = statistics.quantiles(ratios, n=4) if rounds > 1 else [ratios[0]] * 3
    same = found[0] == found[1] and len(found[0]) == 1
    lines.append({"case": case, "before_s": times[0], "after_s": times[1], "ratio": q, "same": same,
                  "before": sorted(found[0]), "after": sorted(found[1])})
    print(f"{case:<56}{statistics.median(times[0]):9.4f} s{statistics.median(times[1]):9.4f} s"
          f"   {q[1]:.3f} [{q[0]:.3f} … {q[2]:.3f}]   {'same digits' if same else 'DIGITS DIFFER'}", flush=True)
    with open("compare_builds.json", "w") as f:
        json.dump(lines, f, indent=1)
