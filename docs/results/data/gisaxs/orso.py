"""Reflectivities of the public ORSO set, unpolarised (github.com/reflectivity/analysis, validation/test/unpolarised, CC0) by
gisaxs: python orso.py FOLDER GISAXS, with FOLDER the set's folder. Needs numpy; writes its files into the folder it runs in.
Tests 4 and 5 are averaged here over their Gaussian resolution, which gisaxs does not have for reflectivities."""
import pathlib, subprocess, sys
import numpy as np

LAMBDA = 0.1  # nm
K0 = 2 * np.pi / LAMBDA
set_, gisaxs = pathlib.Path(sys.argv[1]), sys.argv[2]


def reflectivity(layers, q):
    """layers: thickness (Å), both parts of the scattering length density (1e-6/Å²), roughness (Å); q in 1/Å."""
    page, n0 = "[beam]\nwavelength = 0.1\n", 1.0
    for k, (d, rho, im, sigma) in enumerate(layers):
        # n² = 1 − λ² ρ/π, with 1e-6/Å² = 1e-4/nm²; absorption above the sample is not used by the set.
        n = np.sqrt(1 - LAMBDA**2 / np.pi * 1e-4 * complex(rho, -im if k else 0))
        n0 = n.real if k == 0 else n0
        page += f"[[layers]]\ndelta = {float(1 - n.real)!r}\nbeta = {float(n.imag)!r}\n"
        if 0 < k < len(layers) - 1:
            page += f"thickness = {float(d) / 10!r}\n"
        page += f"roughness = {float(sigma) / 10!r}\n" if k else ""
    pathlib.Path("orso.toml").write_text(page)
    angles = np.degrees(np.arcsin(10 * q / (2 * K0 * n0)))
    np.savetxt("angles.csv", angles, fmt="%.17g", header="alpha_deg", comments="")
    subprocess.check_output([gisaxs, "reflectivity", "orso.toml", "--angles", "angles.csv", "-o", "r.csv", "-q"])
    return np.loadtxt("r.csv", delimiter=",", skiprows=1)[:, 1]


for test in sorted(set_.glob("test*.txt")):
    names = [l.strip() for l in test.read_text().splitlines() if l.strip() and not l.startswith("#")]
    layers, data = (np.loadtxt(set_ / n) for n in names[:2])
    q, r = data[:, 0], data[:, 1]
    if data.shape[1] == 4:
        x, w = np.polynomial.legendre.leggauss(401)
        # ±4 standard deviations.
        at, w = q[:, None] + 4 * x * data[:, 3:], w * np.exp(-8 * x * x)
        got = reflectivity(layers, np.abs(at).ravel()).reshape(at.shape) @ w / w.sum()
    else:
        got = reflectivity(layers, q)
    off = np.abs(got / r - 1)
    print(f"{test.stem}: {len(layers)} layers, {len(q)} q, largest relative deviation {off.max():.1e} at {q[off.argmax()]:.3f}/Å, R ="
          f" {r[off.argmax()]:.1e}; smallest R {r.min():.0e}")
