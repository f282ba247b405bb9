"""Scattering of spheres on a substrate at grazing incidence, for three radii."""

from typing import Any

from greenup import gisaxs

SAMPLE: dict[str, Any] = {
    "beam": {"wavelength": 0.1, "angle": 0.2, "intensity": 1e9},
    "detector": {"phi": {"from": -1.5, "to": 1.5, "n": 48}, "alpha": {"from": 0.0, "to": 2.0, "n": 32}},
    "layers": [{}, {"delta": 6e-6, "beta": 2e-8}],
    "particles": [
        {"form": {"shape": "sphere", "radius": 5.0}, "delta": 9.6e-6, "beta": 3.4e-8, "density": 0.01},
    ],
}


def main() -> None:
    for radius in (4.5, 5.0, 5.5):
        image = gisaxs.simulate(SAMPLE, set={"particles.0.form.radius": radius})
        row, column = divmod(int(image.argmax()), image.shape[1])
        at = f"phi {image.phi[row, column]:.2f}, alpha {image.alpha[row, column]:.2f} degrees"
        print(f"radius {radius} nm: {image.sum():.4g} photons, most at {at}")


if __name__ == "__main__":
    main()
