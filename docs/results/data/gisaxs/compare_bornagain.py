"""Images by BornAgain 25 and gisaxs: python compare_bornagain.py GISAXS
Media above the sample other than vacuum, rough interfaces, distributions of lattices and paracrystals, particles across
interfaces. Needs bornagain==25.0 and numpy; writes its files into the folder it runs in. Distributions are sums of
BornAgain's images at the points of the same quadrature."""
import json, subprocess, sys
import bornagain as ba
import numpy as np
from bornagain import deg, nm

N = 64
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


def material(index):
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
    particle = ba.Particle(material(PARTICLE), c["form"][1]())
    # The height is above the lower interface of the layer; of the substrate it is above its upper one.
    last = len(c["layers"]) - 1
    at = min(c["layer"], last - 1)
    particle.translate(0, 0, c["height"])
    sample = ba.Sample()
    for n, (index, thickness, sigma) in enumerate(c["layers"]):
        args = [material(index)] + ([thickness * nm] if thickness else [])
        if sigma:
            # Hurst exponent and correlation length matter for the scattering of the roughness only; whether BornAgain adds it here is open.
            args.append(ba.Roughness(ba.SelfAffineFractalModel(sigma, 0.5, 10), ba.ErfTransient()))
        layer = ba.Layer(*args)
        if n == at:
            layer.deposit2D(ba.Dilute2D(0.01, particle) if order is None else structure(particle, order))
        sample.addLayer(layer)
    beam = ba.Beam(1.0, 0.1 * nm, 0.2 * deg)
    detector = ba.SphericalDetector(N, -1.5 * deg, 1.5 * deg, N, 0, 2 * deg)
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
    edges = [np.degrees(np.arctan(np.radians(np.linspace(*r, N + 1)))).tolist() for r in ((-1.5, 1.5), (0, 2))]
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


if __name__ == "__main__":
    for n, (name, c) in enumerate(CASES.items()):
        a, b = theirs(c), ours(c, sys.argv[1])
        if c["order"] and c["order"][0] == "radial":
            # BornAgain's density of a radial paracrystal is that of its neighbours.
            a = a * (b.sum() / a.sum())
        bright = a > 1e-6 * a.max()
        off = [np.where(bright, np.abs(x / np.where(bright, a, 1) - 1), 0) for x in (b, b[:, ::-1])]
        mirror = int(off[1].max() < off[0].max())
        o = off[mirror]
        r, k = np.unravel_index(o.argmax(), o.shape)
        print(f"{name:48s} largest deviation {o.max():.1e}  median {np.median(o[bright]):.0e}  beyond 1e-5: {(o > 1e-5).sum()} of"
              f" {bright.sum()}  there I/max {a[r, k] / a.max():.0e}{'  mirrored' if mirror else ''}", flush=True)
