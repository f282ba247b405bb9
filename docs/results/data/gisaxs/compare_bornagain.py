"""Images by BornAgain 25 and gisaxs: python compare_bornagain.py GISAXS [PIXELS.json]
Media above the sample other than vacuum, rough interfaces, distributions of lattices and paracrystals, particles across
interfaces. Needs bornagain==25.0 and numpy; writes its files into the folder it runs in, and some pixels for tests into PIXELS.json.
Distributions are sums of BornAgain's images at the points of the same quadrature. Particles across interfaces are compared with
the integral of the distorted waves over the particle, by quadrature: BornAgain gives one image for a cylinder across a surface and
another for its two halves in a compound."""
import json, subprocess, sys
import bornagain as ba
import numpy as np
from bornagain import deg, nm

N, PHI, ALPHA = 128, (-0.75, 0.75), (0.0, 2.0)
VACUUM, SILICON, PARTICLE = (0.0, 0.0), (6e-6, 2e-8), (9.6e-6, 3.4e-8)
FILM, WATER, OIL = (3e-6, 1e-9), (2.5e-6, 0.0), (1.5e-6, 4e-8)
CYLINDER = '{ shape = "cylinder", radius = 5.0, height = 8.0 }', lambda: ba.Cylinder(5, 8)
SPHERE = '{ shape = "sphere", radius = 5.0 }', lambda: ba.Sphere(5)
CONE = '{ shape = "cone", radius = 6.0, height = 9.0, base_angle = 70.0 }', lambda: ba.Cone(6, 9, 70 * deg)
BOX = '{ shape = "box", length_x = 8.0, width_y = 12.0, height = 5.0 }', lambda: ba.Box(8, 12, 5)
PARACRYSTAL = dict(a=20.0, b=24.0, angle=80.0, rotation=12.0, spread=[1.5, 1.5], domain=300.0)
LATTICE = dict(a=20.0, b=25.0, angle=75.0, rotation=10.0, cells=[6, 9])
RADIAL = dict(distance=20.0, spread=3.0, domain=300.0)


def case(layers, form, layer=0, height=0.0, order=None, over=None):
    """Layers: ((delta, beta), thickness, roughness) from the top. Over: key, kind, width, samples."""
    return dict(layers=layers, form=form, layer=layer, height=height, order=order, over=over)


def on(above, *inner, substrate=SILICON, rough=0.0):
    return [(above, 0, 0), *inner, (substrate, 0, rough)]


CASES = {
    "cylinder on silicon under water": case(on(WATER), CYLINDER),
    "sphere in a film under an absorbing oil": case(on(OIL, (FILM, 40, 0)), SPHERE, 1, 12.0),
    "cylinder in a film, 0.3 nm roughness": case(on(VACUUM, (FILM, 40, 0.3)), CYLINDER, 1, 10.0),
    "cylinder in a film, 2 nm roughness": case(on(VACUUM, (FILM, 40, 2.0), rough=1.0), CYLINDER, 1, 10.0),
    "cone in the third of four rough layers": case(
        on(VACUUM, (FILM, 20, 1.0), ((8e-6, 8e-7), 30, 1.5), (WATER, 25, 0.7), rough=2.0), CONE, 2, 8.0),
    "water over two rough layers, sphere": case(on(WATER, (OIL, 30, 1.2), (FILM, 40, 0.8), rough=0.5), SPHERE, 2, 3.0),
    "paracrystal, rotations": case(on(VACUUM), CYLINDER, order=("paracrystal", PARACRYSTAL),
                                   over=("rotation", "uniform", 15.0, 9)),
    "paracrystal, spacings": case(on(VACUUM), SPHERE, order=("paracrystal", PARACRYSTAL), over=("a", "gaussian", 0.5, 7)),
    "lattice, spacings": case(on(VACUUM), BOX, order=("lattice", LATTICE), over=("a", "gaussian", 0.4, 7)),
    "lattice, rotations, under water": case(on(WATER), BOX, order=("lattice", LATTICE), over=("rotation", "uniform", 8.0, 7)),
    "radial paracrystal, distances": case(on(VACUUM), CYLINDER, order=("radial", RADIAL),
                                          over=("distance", "gaussian", 1.0, 7)),
    "cylinder across the surface of silicon": case(on(VACUUM), CYLINDER, 1, -4.0),
    "cylinder across the surface of a film": case(on(VACUUM, (FILM, 40, 0)), CYLINDER, 1, 36.0),
    "sphere across a film and both its interfaces": case(on(VACUUM, (FILM, 4, 0)), SPHERE, 1, -3.5),
    "cone across a rough interface under water": case(on(WATER, (FILM, 30, 0.6), rough=0.4), CONE, 1, 26.0),
    "box across the surface on a lattice": case(on(VACUUM), BOX, 1, -2.0, order=("lattice", LATTICE)),
}


def nodes(kind, center, width, n):
    x, w = np.polynomial.legendre.leggauss(n)
    if kind == "gaussian":
        x, w = 4 * x, w * np.exp(-8 * x * x)
    return zip(center + width * x, w / w.sum())


def medium(index):
    try:
        return ba.RefractiveMaterial(str(index), *index)
    except TypeError:
        # Some builds of 25.0 want a colour too.
        return ba.RefractiveMaterial(str(index), (0, 0, 0), *index)


def structure(particle, order):
    """The arrangement, and its density relative to the one that BornAgain takes."""
    kind, o = order
    if kind == "radial":
        out = ba.RadialParacrystal(particle, o["distance"], o["domain"])
        out.setProbabilityDistribution(ba.Profile1DGauss(o["spread"]))
        return out
    lattice = ba.BasicLattice2D(o["a"], o["b"], o["angle"] * deg, o["rotation"] * deg)
    if kind == "lattice":
        return ba.FiniteCrystal2D(particle, lattice, *o["cells"])
    out = ba.Paracrystal2D(particle, lattice, o["domain"], 0, 0)
    pdf = [ba.Profile2DGauss(s, s, 0) for s in o["spread"]]
    out.setProbabilityDistributions(*pdf)
    return out


def one(c, order):
    out = image(c, order, True) - (image(c, order, False) if any(l[2] for l in c["layers"]) else 0)
    if order and order[0] == "radial":
        # BornAgain takes the density of a hexagonal lattice with the distance of the neighbours.
        out *= 0.01 * order[1]["distance"] ** 2 * np.sqrt(3) / 2
    return out


def image(c, order, particles):
    # BornAgain leaves the index n0 above the sample out of the components of q along the surface. The same sample with all
    # indices and the wavelength divided by n0 has vacuum above.
    n0 = 1 - c["layers"][0][0][0]
    material = lambda index: medium((1 - (1 - index[0]) / n0, index[1] / n0))
    particle = ba.Particle(material(PARTICLE), c["form"][1]())
    # The height is above the lower interface of the layer; of the substrate it is above its upper one.
    last = len(c["layers"]) - 1
    at = min(c["layer"], last - 1)
    particle.translate(0, 0, c["height"])
    sample = ba.Sample()
    for n, (index, thickness, sigma) in enumerate(c["layers"]):
        args = [material(index)] + ([thickness * nm] if thickness else [])
        if sigma:
            # BornAgain cuts the roughness off at 0.5/nm by default, which takes from sigma, and adds what the
            # roughness itself scatters: here next to nothing, and subtracted.
            args.append(ba.Roughness(ba.SelfAffineFractalModel(sigma, 1.0, 1e6, 100), ba.ErfTransient()))
        layer = ba.Layer(*args)
        if n == at and particles:
            layer.deposit2D(ba.Dilute2D(0.01, particle) if order is None else structure(particle, order))
        sample.addLayer(layer)
    beam = ba.Beam(1.0, 0.1 / n0 * nm, 0.2 * deg)
    # Beyond: its pixels differ from those at these angles by the fourth power of phi.
    detector = ba.SphericalDetector(N, *(x * deg for x in PHI), N, *(x * deg for x in ALPHA))
    run = ba.ScatteringSimulation(beam, sample, detector)
    run.options().setUseAvgMaterials(False)
    return np.array(run.simulate().intensities()).reshape(N, N)


def theirs(c):
    if not c["over"]:
        return one(c, c["order"])
    (kind, o), (key, shape, width, n) = c["order"], c["over"]
    return sum(w * one(c, (kind, dict(o, **{key: x}))) for x, w in nodes(shape, o[key], width, n))


def ours(c, gisaxs, page="scene.toml"):
    # BornAgain's bins are equal steps of the tangent.
    edges = [np.degrees(np.arctan(np.radians(np.linspace(*r, N + 1)))).tolist() for r in (PHI, ALPHA)]
    text = f"beam = {{ wavelength = 0.1, angle = 0.2 }}\ndetector = {{ phi = {{ edges = {edges[0]} }}, alpha = {{ edges = {edges[1]} }} }}\n"
    for (delta, beta), thickness, sigma in c["layers"]:
        text += f"[[layers]]\ndelta = {delta}\nbeta = {beta}\n"
        text += f"thickness = {float(thickness)}\n" if thickness else ""
        text += f"roughness = {sigma}\n" if sigma else ""
    text += (f"[[particles]]\nform = {c['form'][0]}\ndelta = {PARTICLE[0]}\nbeta = {PARTICLE[1]}\n"
             f"layer = {c['layer']}\nheight = {c['height']}\n")
    kind, o = c["order"] or (None, None)
    if kind in (None, "radial"):
        text += "density = 0.01\n"
    if kind:
        text += kind + " = { " + ", ".join(f"{k} = {v}" for k, v in o.items()) + " }\n"
    if c["over"]:
        key, shape, width, n = c["over"]
        text += f'[[particles.distributions]]\nof = "{kind}.{key}"\nkind = "{shape}"\nwidth = {width}\nsamples = {n}\n'
    with open(page, "w") as f:
        f.write(text)
    subprocess.check_output([gisaxs, "simulate", page, "-o", "ours.npy", "-q"])
    return np.load("ours.npy")


# Radius at a height above the base, and height, of the bodies of revolution.
ROUND = {
    CYLINDER[0]: (lambda z: 5 + 0 * z, 8.0),
    SPHERE[0]: (lambda z: np.sqrt(np.maximum(z * (10 - z), 0)), 10.0),
    CONE[0]: (lambda z: 6 - z / np.tan(70 * np.pi / 180), 9.0),
}
LEGENDRE = np.polynomial.legendre.leggauss(80)


def bessel(x):
    """J1."""
    t = np.pi * (np.arange(400) + 0.5) / 400
    return np.cos(t - np.multiply.outer(x, np.sin(t))).mean(axis=-1)


def waves(layers, k0, angle):
    """k_z and the amplitudes of both waves at the top of each layer, by a product of matrices (Nevot and Croce)."""
    n = [1 - d + 1j * b for (d, b), _, _ in layers]
    k = [k0 * np.sqrt(m * m - (n[0].real * np.cos(angle)) ** 2 + 0j) for m in n]
    below = [np.array([1, 0], complex)]
    for j in reversed(range(len(layers) - 1)):
        sigma = layers[j + 1][2]
        p = (k[j] + k[j + 1]) / (2 * k[j]) * np.exp(-((k[j] - k[j + 1]) * sigma) ** 2 / 2)
        m = (k[j] - k[j + 1]) / (2 * k[j]) * np.exp(-((k[j] + k[j + 1]) * sigma) ** 2 / 2)
        at = np.array([[p, m], [m, p]]) @ below[0]
        e = np.exp(1j * k[j] * (layers[j][1] if j else 0))
        below.insert(0, np.array([at[0] / e, at[1] * e]))
    return k, [b / below[0][0] for b in below]


def integral(c):
    """The image of a body of revolution, or of a box on a lattice, wherever it lies."""
    layers, k0, incidence = c["layers"], 2 * np.pi / 0.1, np.radians(0.2)
    last = len(layers) - 1
    tops = [np.inf] + [-sum(l[1] for l in layers[1:j]) for j in range(1, last + 1)]
    base = c["height"] + (tops[min(c["layer"], last - 1) + 1])
    radius, height = ROUND.get(c["form"][0], (None, 5.0))
    phi, alpha = (np.arctan(np.radians(np.linspace(*r, N + 1))) for r in (PHI, ALPHA))
    solid = np.outer(np.diff(np.sin(alpha)), np.diff(phi))
    phi, alpha = (phi[1:] + phi[:-1]) / 2, (alpha[1:] + alpha[:-1]) / 2
    n = [1 - d + 1j * b for (d, b), _, _ in layers]
    inside = (1 - PARTICLE[0] + 1j * PARTICLE[1]) ** 2
    down = waves(layers, k0, incidence)
    out = np.zeros((N, N))
    for i, a in enumerate(alpha):
        up = waves(layers, k0, a)
        own = k0 * n[0].real
        qx = own * (np.cos(a) * np.cos(phi) - np.cos(incidence))
        qy = own * np.cos(a) * np.sin(phi)
        amplitude = 0
        for j in range(last + 1):
            bottom = tops[j + 1] if j < last else -np.inf
            lo, hi = max(base, bottom), min(base + height, tops[j])
            if lo >= hi:
                continue
            z, w = (lo + hi) / 2 + (hi - lo) / 2 * LEGENDRE[0], (hi - lo) / 2 * LEGENDRE[1]
            ref = 0 if j == 0 else tops[j]
            field = 1
            for k, amplitudes in (down, up):
                t, r = amplitudes[j]
                field = field * (t * np.exp(-1j * k[j] * (z - ref)) + r * np.exp(1j * k[j] * (z - ref)))
            if radius:
                x = np.multiply.outer(np.hypot(qx, qy), radius(z - base))
                area = 2 * np.pi * radius(z - base) ** 2 * np.where(x > 1e-9, bessel(x) / np.maximum(x, 1e-9), 0.5)
            else:
                area = np.multiply.outer(96 * np.sinc(qx * 4 / np.pi) * np.sinc(qy * 6 / np.pi), 1 + 0 * z)
            amplitude = amplitude + (inside - n[j] ** 2) * (area * field * w).sum(axis=-1)
        out[i] = abs(amplitude) ** 2
        if c["order"]:
            # A finite lattice: squares of the sums over its cells.
            o = c["order"][1]
            density = 1 / (o["a"] * o["b"] * np.sin(np.radians(o["angle"])))
            square = density
            for side, turn, cells in ((o["a"], 0, o["cells"][0]), (o["b"], o["angle"], o["cells"][1])):
                t = np.radians(o["rotation"] + turn)
                x = side * (qx * np.cos(t) + qy * np.sin(t)) / 2
                square = square * (np.sin(cells * x) / np.sin(x)) ** 2 / cells
            out[i] *= square
    return out * solid * (k0 * k0 / (4 * np.pi)) ** 2 / np.sin(incidence) * (1 if c["order"] else 0.01)


if __name__ == "__main__":
    rng, tests = np.random.default_rng(1), []
    for name, c in CASES.items():
        (a, kind), b = (integral(c), "integral") if "across" in name else (theirs(c), "BornAgain"), ours(c, sys.argv[1])
        bright = a > 1e-6 * a.max()
        off = [np.where(bright, np.abs(x / np.where(bright, a, 1) - 1), 0) for x in (b, b[:, ::-1])]
        # Axes of BornAgain may run the other way.
        mirror = int(off[1].max() < off[0].max())
        o, a = off[mirror], a[:, ::-1] if mirror else a
        r, k = np.unravel_index(o.argmax(), o.shape)
        print(f"{name:48s} {kind:9s} largest deviation {o.max():.1e}  median {np.median(o[bright]):.0e}  beyond 1e-5: {(o > 1e-5).sum()} of"
              f" {bright.sum()}", flush=True)
        pixels = rng.choice(np.argwhere(a > 1e-6 * a.max()), 12, replace=False)
        text = open("scene.toml").read().splitlines(keepends=True)
        sample = "".join(l for l in text if not l.startswith("detector"))
        tests.append(dict(name=name, of=kind, sample=sample, pixels=[[int(i), int(j), a[i, j]] for i, j in pixels]))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as f:
            json.dump(dict(phi=PHI, alpha=ALPHA, n=N, cases=tests), f, indent=0)
