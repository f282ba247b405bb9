"""Grazing-incidence X-ray scattering: images, form factors of meshes, reflectivity, fits.

Lengths are in nm, wave vectors in 1/nm, angles in degrees. z points up, out of the sample; q = k_i - k_f.
A sample is an input file as of the ``gisaxs`` command, its text, or the same as nested dicts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._arrays import points, real, to_json

__all__ = ["Image", "fit", "form_factor", "form_factor_grid", "reflectivity", "simulate"]

Path = str | os.PathLike[str]
Sample = Path | Mapping[str, Any]
Settings = Mapping[str, Any]


class Image(np.ndarray[Any, np.dtype[np.float64]]):
    """Photons per pixel: an array of shape (rows, columns), lowest row first, with its detector.

    ``phi``, ``alpha``: azimuth and exit angle of each pixel, degrees, same shape. ``extent``: ends of both axes
    (left, right, lower, upper) for ``matplotlib.pyplot.imshow(image, origin="lower", extent=image.extent)``, in
    degrees, or mm of a flat detector; ``labels``: titles of both axes.

    Arithmetic and slices give plain arrays.
    """

    _scene: _native.GisaxsScene | None = None

    def __array_finalize__(self, other: object) -> None:
        self._scene = None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        out = np.asarray(array)
        return out[()] if return_scalar else out

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()

    def _of(self) -> _native.GisaxsScene:
        if self._scene is None:
            raise AttributeError("a part or a copy of an image has no detector: use the image that simulate returned")
        return self._scene

    @property
    def phi(self) -> NDArray[np.float64]:
        """Azimuth of each pixel, degrees, shape (rows, columns)."""
        return self._of().angles()[0].reshape(self.shape)

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Exit angle of each pixel, degrees, shape (rows, columns)."""
        return self._of().angles()[1].reshape(self.shape)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, lower and upper end of the axes."""
        (_, a, b), (_, c, d) = self._of().axes()
        return (a, b, c, d)

    @property
    def labels(self) -> tuple[str, str]:
        """Titles of the horizontal and the vertical axis, with their units."""
        (x, _, _), (y, _, _) = self._of().axes()
        return (x, y)

    def figure(self, format: Literal["svg", "png", "pdf"] = "svg") -> bytes:
        """The image with logarithmic colours and its axes, as bytes of an ``svg``, ``png`` or ``pdf`` file."""
        if format not in ("svg", "png", "pdf"):
            raise ValueError(f"invalid format {format!r}: use svg, png or pdf")
        return bytes(self._of().figure(np.ascontiguousarray(self, dtype=np.float64).reshape(-1), format))

    def _repr_html_(self) -> str | None:
        if self._scene is None:
            return None
        return self.figure("svg").decode()


def simulate(
    page: Sample, *, set: Settings | None = None, folder: Path | None = None, device: str = "cpu", accuracy: float = 1e-9
) -> Image:
    """Simulates the image of a sample; returns an :class:`Image` of shape (rows, columns), photons per pixel.

    ``page``: path of an input file (TOML), its text, or the same as nested dicts. ``set``: other values at some paths,
    such as ``{"particles.0.form.radius": 5.0}``. ``folder``: where relative paths of meshes and tables start (default: the
    input file's folder, else the current one). ``device``: ``"cpu"``, ``"cuda"``, ``"cuda:N"`` or ``"cuda:all"``.
    ``accuracy``: largest error of the form factor of a mesh over its volume. What must be known of the image is a warning,
    as that particles across an interface were cut there.
    """
    pixels, shape, scene = _native.gisaxs_simulate(_page(page, folder), _set(set), device, float(accuracy))
    image: Image = pixels.reshape(shape).view(Image)
    image._scene = scene
    return image


def form_factor(
    vertices: ArrayLike, triangles: ArrayLike, q: ArrayLike, *, accuracy: float = 1e-9, device: str = "cpu", weld: bool = False
) -> NDArray[np.complex128]:
    """Form factor F(q) of the solid inside a closed mesh, the integral of exp(i q.r), nm³.

    ``vertices``: shape (n, 3), nm. ``triangles``: integers of shape (m, 3), counter-clockwise seen from outside. ``q``:
    shape (..., 3), 1/nm, real, or complex with real q_x and q_y. Returns complex numbers of shape (...,).
    ``accuracy``: largest error over the volume, 1e-12 to below 1; ``weld=True`` merges vertices at the same position.
    """
    table, shape = _q(q)
    mesh = (points(vertices, "vertices"), _triangles(triangles), bool(weld))
    return _native.gisaxs_form_factor(*mesh, table, float(accuracy), device).reshape(shape)


def form_factor_grid(
    vertices: ArrayLike,
    triangles: ArrayLike,
    qx: ArrayLike,
    qy: ArrayLike,
    qz: ArrayLike,
    *,
    accuracy: float = 1e-9,
    device: str = "cpu",
    weld: bool = False,
) -> NDArray[np.complex128]:
    """F on a tensor grid, nm³: faster than a list of the same q. ``qx``, ``qy``: real, 1-D, 1/nm; ``qz``: real or complex.

    Returns complex numbers of shape (len(qz), len(qx), len(qy)); the rest as for :func:`form_factor`.
    """
    x, y = real(qx, "qx", 1), real(qy, "qy", 1)
    z = np.asarray(qz)
    if z.dtype.kind not in "iufc":
        raise TypeError(f"qz must be numbers, not {z.dtype}")
    if z.ndim != 1:
        raise ValueError(f"qz must have 1 dimension, not shape {z.shape}")
    with np.errstate(over="ignore"):
        z = np.ascontiguousarray(z, dtype=np.complex128)
    if not np.isfinite(z).all():
        raise ValueError("qz has values that are not finite")
    grid = ((x, y), z)
    mesh = (points(vertices, "vertices"), _triangles(triangles), bool(weld))
    values = _native.gisaxs_form_factor_grid(*mesh, *grid, (float(accuracy), device))
    return values.reshape(len(z), len(x), len(y))


def reflectivity(
    page: Sample, angles: ArrayLike, *, set: Settings | None = None, folder: Path | None = None
) -> NDArray[np.float64]:
    """Specular reflectivity of the layers of a sample at grazing ``angles`` (degrees, any shape); the same shape, 0 to 1."""
    table = real(angles, "angles")
    flat = np.ascontiguousarray(table).reshape(-1)
    return _native.gisaxs_reflectivity(_page(page, folder), _set(set), flat).reshape(table.shape)


def fit(page: Path, *, device: str = "cpu") -> dict[str, Any]:
    """Fits numbers of a sample to measured data, as ``gisaxs fit`` does.

    ``page``: path of the fit's input file. Returns a dict: ``parameters``, a list of dicts with ``path``, ``value``,
    ``error`` (one standard deviation, ``None`` where the data do not tell it) and ``unit``; ``chi2`` per degree of freedom;
    ``covariance``, ``correlations``, ``convergence``, ``termination``, ``at_bounds``, ``warnings``, which are Python's too.
    """
    found: dict[str, Any] = json.loads(_native.gisaxs_fit(os.fspath(page), device))
    return found


def _page(page: Sample, folder: Path | None) -> tuple[str, str, str]:
    """What the native module takes: kind of text, text, folder."""
    if isinstance(page, Mapping):
        return ("json", to_json(page, "the sample"), os.fspath(folder or "."))
    if isinstance(page, os.PathLike) or (isinstance(page, str) and "\n" not in page):
        path = os.fspath(page)
        return ("path", path, os.fspath(folder or os.path.dirname(path) or "."))
    if isinstance(page, str):
        return ("toml", page, os.fspath(folder or "."))
    raise TypeError(f"a sample is a path, TOML text or a dict, not {type(page).__name__}")


def _set(set: Settings | None) -> list[tuple[str, Any]]:
    if set is not None and not isinstance(set, Mapping):
        raise TypeError(f"set is a dict of paths and values, not {type(set).__name__}")
    return [(str(path), _plain(path, value)) for path, value in (set or {}).items()]


def _plain(path: object, value: object) -> bool | int | float | str:
    """A bool, int, float or string, of Python or NumPy."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"{path} is set to a {type(value).__name__}: give a number, a bool or a string")
    return value


def _triangles(triangles: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(triangles)
    if array.dtype.kind not in "iu":
        raise TypeError(f"triangles must be integers, not {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"triangles must have shape (m, 3), not {array.shape}")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError("triangles has indices beyond the vertices")
    return np.ascontiguousarray(array, dtype=np.int64)


def _q(q: ArrayLike) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Columns q_x, q_y, Re q_z, Im q_z; and the shape of F."""
    given = np.asarray(q)
    if given.dtype.kind not in "iufc":
        raise TypeError(f"q must be numbers, not {given.dtype}")
    if given.ndim == 0 or given.shape[-1] != 3:
        raise ValueError(f"q must have shape (..., 3), not {given.shape}")
    rows = given.reshape(-1, 3)
    table = np.empty((len(rows), 4))
    with np.errstate(over="ignore"):
        table[:, :3] = rows.real
        table[:, 3] = rows[:, 2].imag
    if given.dtype.kind == "c" and (rows[:, :2].imag != 0).any():
        raise ValueError("q_x and q_y must be real; q_z may be complex")
    if not np.isfinite(table).all():
        raise ValueError("q has values that are not finite")
    return table, given.shape[:-1]
