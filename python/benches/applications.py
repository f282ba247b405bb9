"""The applications from Python against their executables, and an image against BornAgain's Python, in turns.

    python benches/applications.py FOLDER_OF_EXECUTABLES [ROUNDS]

Both must be built with the same profile. Each side reports the seconds of the same work: the executable by `--json`, Python
by the clock around the call. Times of the executables are without reading files and starting; those of Python are with
checking and copying arrays. BornAgain is compared where it is installed.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from greenup import fmm, gisaxs

SAMPLE = """[beam]
wavelength = 0.1
angle = 0.2
[detector]
phi = {{ edges = {phi} }}
alpha = {{ edges = {alpha} }}
[[layers]]
[[layers]]
delta = 6e-6
beta = 2e-8
[[particles]]
form = {{ shape = "sphere", radius = 5.0 }}
delta = 9.6e-6
beta = 3.4e-8
density = 0.01
"""
PIXELS = 512


def timed(work):
    start = time.perf_counter()
    out = work()
    return time.perf_counter() - start, out


def run(program, *arguments):
    return json.loads(subprocess.run([program, *map(str, arguments), "--json"], check=True, capture_output=True).stdout)


def ball(rows, columns, radius=10.0):
    """A sphere of triangles."""
    theta = np.linspace(0, np.pi, rows + 1)[1:-1]
    phi = np.linspace(0, 2 * np.pi, columns, endpoint=False)
    t, p = np.meshgrid(theta, phi, indexing="ij")
    ring = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], -1).reshape(-1, 3)
    vertices = radius * np.concatenate([ring, [[0, 0, 1], [0, 0, -1]]])
    north, south, triangles = len(ring), len(ring) + 1, []
    for c in range(columns):
        d = (c + 1) % columns
        triangles += [(north, c, d), (south, (rows - 2) * columns + d, (rows - 2) * columns + c)]
        for r in range(rows - 2):
            a, b = r * columns, (r + 1) * columns
            triangles += [(a + c, b + c, b + d), (a + c, b + d, a + d)]
    return vertices, np.array(triangles)


def simulate(folder, programs):
    """An image of 512 x 512 pixels; BornAgain's bins are equal steps of the tangent."""
    edges = lambda a, b: np.degrees(np.arctan(np.radians(np.linspace(a, b, PIXELS + 1)))).tolist()
    page = folder / "sample.toml"
    page.write_text(SAMPLE.format(phi=edges(-1.5, 1.5), alpha=edges(0, 2)))
    out = folder / "image.npy"

    def executable():
        return run(programs / "gisaxs", "simulate", page, "-o", out)["seconds"], None

    def python():
        seconds, image = timed(lambda: gisaxs.simulate(page))
        return seconds, np.asarray(image)

    def check(image):
        return np.abs(image / np.load(out) - 1).max()

    return executable, python, check


def form_factor(folder, programs):
    """F of a sphere of 5,000 triangles on a tensor grid of 1 x 500 x 400 q."""
    vertices, triangles = ball(50, 51)
    obj = "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist())
    obj += "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles.tolist())
    (folder / "ball.obj").write_text(obj)
    shape = folder / "ball.toml"
    shape.write_text('shape = "mesh"\nfile = "ball.obj"\n')
    qx, qy, qz = np.array([0.01]), np.linspace(-2, 2, 500), np.linspace(0, 2.5, 400)
    out = folder / "f.npy"
    grid = ["--grid", "0.01", "-2:2:500", "0:2.5:400"]

    def executable():
        found = run(programs / "gisaxs", "form-factor", shape, *grid, "--accuracy", "1e-9", "-o", out)
        return found["seconds"], None

    def python():
        return timed(lambda: gisaxs.form_factor_grid(vertices, triangles, qx, qy, qz, accuracy=1e-9))

    def check(f):
        return np.abs(f - np.load(out)).max() / np.abs(f).max()

    return executable, python, check


def evaluate(folder, programs):
    """Potentials of 100,000 points in a cube: plan and evaluation."""
    rng = np.random.default_rng(1)
    x, q = rng.uniform(-1, 1, (100_000, 3)), rng.uniform(-1, 1, 100_000)
    np.save(folder / "points.npy", np.column_stack([x, q]))
    out = folder / "sums.npy"

    def executable():
        found = run(programs / "fmm", "run", "--points", folder / "points.npy", "-o", out)
        return found["setup_s"] + found["evaluation_s"], None

    def python():
        return timed(lambda: fmm.evaluate(x, q))

    def check(sums):
        known = np.load(out)[:, -1]
        return np.linalg.norm(sums - known) / np.linalg.norm(known)

    return executable, python, check


def bornagain():
    """The same image by BornAgain; None if it is not installed."""
    try:
        import bornagain as ba
    except ImportError as e:
        print(f"BornAgain: {e}")
        return None
    from bornagain import deg, nm

    def material(name, delta, beta):
        try:
            return ba.RefractiveMaterial(name, delta, beta)
        except TypeError:
            return ba.RefractiveMaterial(name, (0, 0, 0), delta, beta)

    top = ba.Layer(material("vacuum", 0, 0))
    top.deposit2D(ba.Dilute2D(0.01, ba.Particle(material("particle", 9.6e-6, 3.4e-8), ba.Sphere(5))))
    sample = ba.Sample()
    sample.addLayer(top)
    sample.addLayer(ba.Layer(material("silicon", 6e-6, 2e-8)))

    def work():
        detector = ba.SphericalDetector(PIXELS, -1.5 * deg, 1.5 * deg, PIXELS, 0, 2 * deg)
        run = ba.ScatteringSimulation(ba.Beam(1.0, 0.1 * nm, 0.2 * deg), sample, detector)
        run.options().setUseAvgMaterials(False)
        return np.array(run.simulate().intensities())

    return lambda: timed(work)


def text(values):
    low, high = min(values), max(values)
    return f"{1e3 * median(values):9.2f} [{1e3 * low:.2f} ... {1e3 * high:.2f}]"


def main():
    programs, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as name:
        print("work            executable, ms                 Python, ms                     Python/executable  deviation")
        for case in (simulate, form_factor, evaluate):
            executable, python, check = case(Path(name), programs)
            times = {"e": [], "p": []}
            for n in range(rounds + 1):
                order = [("e", executable), ("p", python)]
                for key, side in order[:: 1 if n % 2 else -1]:
                    seconds, out = side()
                    if key == "p":
                        result = out
                    # The first round warms up.
                    if n:
                        times[key].append(seconds)
            ratio = median(p / e for e, p in zip(times["e"], times["p"]))
            print(f"{case.__name__:15} {text(times['e']):30} {text(times['p']):30} {ratio:8.3f} {check(result):18.1e}")
        other = bornagain()
        if other is not None:
            _, python, _ = simulate(Path(name), programs)
            ours, theirs = [], []
            for _ in range(max(3, rounds // 2)):
                seconds, image = python()
                ours.append(seconds)
                seconds, known = other()
                theirs.append(seconds)
            bright = known > 1e-6 * known.max()
            deviation = np.abs(image / known - 1)[bright].max()
            ratio = median(t / o for o, t in zip(ours, theirs))
            print(f"BornAgain       {text(theirs):30} {text(ours):30} {ratio:8.1f} x {deviation:16.1e}")


if __name__ == "__main__":
    main()
