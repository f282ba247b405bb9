"""Images by BornAgain 25 and gisaxs in turns: python race_bornagain.py ROUNDS THREADS GISAXS
Needs bornagain==25.0 and numpy; writes its files into the folder it runs in."""
import json, subprocess, sys, time
import numpy as np

N = 512
FORMS = {
    "sphere": ('{ shape = "sphere", radius = 5.0 }', lambda ba: ba.Sphere(5)),
    "box": ('{ shape = "box", length_x = 10.0, width_y = 20.0, height = 5.0 }', lambda ba: ba.Box(10, 20, 5)),
    "cylinder": ('{ shape = "cylinder", radius = 5.0, height = 8.0 }', lambda ba: ba.Cylinder(5, 8)),
    "icosahedron": ('{ shape = "icosahedron", edge = 8.0 }', lambda ba: ba.Icosahedron(8)),
    "dodecahedron": ('{ shape = "dodecahedron", edge = 4.0 }', lambda ba: ba.Dodecahedron(4)),
    "truncated_cube": ('{ shape = "truncated_cube", edge = 10.0, cut = 2.0 }', lambda ba: ba.TruncatedCube(10, 2)),
    "pyramid": ('{ shape = "pyramid", length_x = 12.0, width_y = 12.0, height = 5.0, base_angle = 60.0 }',
                lambda ba: ba.Pyramid4(12, 5, np.radians(60))),
}


def theirs(kind, threads):
    import bornagain as ba
    from bornagain import deg, nm
    def material(name, delta, beta):
        try:
            return ba.RefractiveMaterial(name, delta, beta)
        except TypeError:
            # Some builds of 25.0 want a colour too.
            return ba.RefractiveMaterial(name, (0, 0, 0), delta, beta)
    top = ba.Layer(material("vacuum", 0, 0))
    particle = ba.Particle(material("particle", 9.6e-6, 3.4e-8), FORMS[kind][1](ba))
    top.deposit2D(ba.Dilute2D(0.01, particle))
    sample = ba.Sample()
    sample.addLayer(top)
    sample.addLayer(ba.Layer(material("silicon", 6e-6, 2e-8)))
    beam = ba.Beam(1.0, 0.1 * nm, 0.2 * deg)
    detector = ba.SphericalDetector(N, -1.5 * deg, 1.5 * deg, N, 0, 2 * deg)
    best = 1e9
    for _ in range(3):
        run = ba.ScatteringSimulation(beam, sample, detector)
        run.options().setNumberOfThreads(threads)
        run.options().setUseAvgMaterials(False)
        start = time.perf_counter()
        result = run.simulate()
        best = min(best, time.perf_counter() - start)
    np.save(f"theirs_{kind}.npy", np.array(result.intensities()))
    print(best)


def ours(kind, threads, gisaxs):
    # BornAgain's bins are equal steps of the tangent.
    phi = np.degrees(np.arctan(np.radians(np.linspace(-1.5, 1.5, N + 1)))).tolist()
    alpha = np.degrees(np.arctan(np.radians(np.linspace(0, 2, N + 1)))).tolist()
    with open(f"race_{kind}.toml", "w") as page:
        page.write(f"""[beam]
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
form = {FORMS[kind][0]}
delta = 9.6e-6
beta = 3.4e-8
density = 0.01
""")
    call = [gisaxs, "simulate", f"race_{kind}.toml", "-o", f"ours_{kind}.npy", "--threads", str(threads), "--json"]
    return min(json.loads(subprocess.check_output(call))["seconds"] for _ in range(3))


if sys.argv[1] == "theirs":
    theirs(sys.argv[2], int(sys.argv[3]))
    sys.exit()
rounds, threads, gisaxs = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
times = {kind: [] for kind in FORMS}
for _ in range(rounds):
    for kind in FORMS:
        call = [sys.executable, __file__, "theirs", kind, str(threads)]
        times[kind].append((float(subprocess.check_output(call)), ours(kind, threads, gisaxs)))
for kind, pairs in times.items():
    a, b = np.load(f"theirs_{kind}.npy").reshape(N, N), np.load(f"ours_{kind}.npy")
    bright = a > 1e-6 * a.max()
    off = min(np.abs(x / a - 1)[bright].max() for x in (b, b[::-1]))
    ratios = sorted(x / y for x, y in pairs)
    print(f"{kind:15s} BornAgain {np.median([p[0] for p in pairs]):.3f} s  gisaxs {np.median([p[1] for p in pairs]):.4f} s"
          f"  ratio {np.median(ratios):.1f} [{ratios[0]:.1f} ... {ratios[-1]:.1f}]  largest deviation {off:.1e}")
