"""A ball of 5,000 triangles on a 512 x 512 detector, one thread: python detectors.py GISAXS
Writes ball10.obj and ball50.obj (radii in nm) and their pages beside; each way three times, in turns."""
import json, math, subprocess, sys

ROWS, COLUMNS = 40, 64


def ball(radius, path):
    at = lambda k, j: 1 + (k - 1) * COLUMNS + j % COLUMNS
    with open(path, "w") as out:
        out.write("v 0 0 0\n")
        for k in range(1, ROWS):
            t = math.pi * k / ROWS
            for j in range(COLUMNS):
                f = 2 * math.pi * j / COLUMNS
                x, y, z = math.sin(t) * math.cos(f), math.sin(t) * math.sin(f), 1 - math.cos(t)
                out.write(f"v {radius * x:.17g} {radius * y:.17g} {radius * z:.17g}\n")
        out.write(f"v 0 0 {2 * radius}\n")
        last = 2 + (ROWS - 1) * COLUMNS
        for j in range(COLUMNS):
            out.write(f"f 1 {at(1, j + 1) + 1} {at(1, j) + 1}\n")
            out.write(f"f {last} {at(ROWS - 1, j) + 1} {at(ROWS - 1, j + 1) + 1}\n")
        for k in range(1, ROWS - 1):
            for j in range(COLUMNS):
                a, b, c, d = at(k, j) + 1, at(k, j + 1) + 1, at(k + 1, j) + 1, at(k + 1, j + 1) + 1
                out.write(f"f {a} {b} {d}\nf {a} {d} {c}\n")


for radius, phi in [(10, 1.5), (50, 0.6)]:
    ball(radius, f"ball{radius}.obj")
    with open(f"ball{radius}.toml", "w") as page:
        page.write(f"""[beam]
wavelength = 0.1
angle = 0.2
[detector]
phi = {{ from = -{phi}, to = {phi}, n = 512 }}
alpha = {{ from = 0.0, to = {1.33 * phi}, n = 512 }}
[[layers]]
[[layers]]
delta = 6e-6
beta = 2e-8
[[particles]]
form = {{ shape = "mesh", file = "ball{radius}.obj" }}
delta = 9.6e-6
beta = 3.4e-8
density = 0.001
""")
runs = [(10, "")] + [(50, f"--method {w} --accuracy 1e-5 --quadrature one") for w in ("direct", "gemm", "nufft")]
for _ in range(3):
    for radius, flags in runs:
        call = [sys.argv[1], "simulate", f"ball{radius}.toml", "-o", "out.npy", "--threads", "1", "--json", *flags.split()]
        said = json.loads(subprocess.check_output(call, stderr=subprocess.DEVNULL))
        print(f"R = {radius} nm {flags or '(default: 1e-9)'}: {said['seconds']:.3f} s")
