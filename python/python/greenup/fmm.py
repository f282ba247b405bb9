"""Sums over N sources at M targets in O(N + M) operations, by the kernel-independent fast multipole method.

K(x, y) with r = |x - y|, in any consistent units:

==============  =====================================  =========================  ======================
kernel          K                                      charges                    result
==============  =====================================  =========================  ======================
``laplace``     1 / (4 pi r)                           (n,)                       (m,)
``yukawa``      exp(-kappa r) / (4 pi r)               (n,)                       (m,)
``helmholtz``   exp(i k r) / (4 pi r)                  complex (n,)               complex (m,)
``stokes``      (I / r + x x^T / r^3) / (8 pi mu)      forces (n, 3)              velocities (m, 3)
==============  =====================================  =========================  ======================

A source at the position of a target adds nothing there.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._arrays import points as positions
from ._arrays import real

__all__ = ["Plan", "evaluate"]


class Plan:
    """Everything that depends on the positions alone, for any number of :meth:`evaluate` calls.

    ``points``: sources, shape (n, 3); ``targets``: shape (m, 3) (default: the sources). ``accuracy``: relative L2 error.
    ``kernel`` and its parameter ``kappa`` (yukawa, inverse screening length), ``k`` (helmholtz, wave number) or ``mu``
    (stokes, viscosity), 1 by default. ``gradient``: compute gradients, too. ``device``: ``"cpu"``, ``"cuda"``, ``"cuda:N"``,
    ``"cuda+cpu"``. ``precision``: ``"f64"`` or ``"f32"``. ``ncrit``: maximum points per leaf; ``order``: surface order p
    (defaults: by device and accuracy).
    """

    def __init__(
        self,
        points: ArrayLike,
        targets: ArrayLike | None = None,
        *,
        accuracy: float = 1e-6,
        kernel: str = "laplace",
        kappa: float | None = None,
        k: float | None = None,
        mu: float | None = None,
        gradient: bool = False,
        device: str = "cpu",
        precision: str = "f64",
        ncrit: int | None = None,
        order: int | None = None,
    ) -> None:
        self._kernel = kernel
        self._gradient = bool(gradient)
        parameter = 0.0
        for name, value, of in (("kappa", kappa, "yukawa"), ("k", k, "helmholtz"), ("mu", mu, "stokes")):
            if kernel == of:
                parameter = 1.0 if value is None else float(value)
            elif value is not None:
                raise ValueError(f"{name} is a parameter of {of}, not of {kernel}")
        for name, count in (("ncrit", ncrit), ("order", order)):
            if count is not None and count < 0:
                raise ValueError(f"{name} must be positive, not {count}")
        self._plan = _native.FmmPlan(
            positions(points, "points"),
            None if targets is None else positions(targets, "targets"),
            (kernel, parameter, self._gradient),
            (float(accuracy), precision, device),
            (ncrit, order),
        )

    @property
    def sources(self) -> int:
        """Number of sources."""
        return self._plan.sources

    @property
    def targets(self) -> int:
        """Number of targets."""
        return self._plan.targets

    @property
    def order(self) -> int:
        """Surface order p."""
        return self._plan.order

    @property
    def ncrit(self) -> int:
        """Maximum number of points per leaf."""
        return self._plan.ncrit

    @property
    def setup_s(self) -> float:
        """Seconds of the set-up."""
        return self._plan.setup_s

    @property
    def device(self) -> str:
        """Name of the GPU, or instruction set of the CPU."""
        return self._plan.device

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of the phases of the last evaluation, by name."""
        phases: dict[str, float] = json.loads(self._plan.phases())
        return phases

    def evaluate(self, charges: ArrayLike) -> Any:
        """Sums at the targets; with gradients a pair (sums, gradients), gradients of shape (m, 3)."""
        plan, flat = self._plan, _charges(charges, self._kernel, self._plan.sources)
        out = plan.evaluate(flat).reshape(plan.outputs, plan.targets)
        if self._kernel == "stokes":
            return np.ascontiguousarray(out.T)
        if self._kernel == "helmholtz":
            values = out[0] + 1j * out[1]
            if not self._gradient:
                return values
            return values, (out[2:5] + 1j * out[5:8]).T.copy()
        if not self._gradient:
            return out[0]
        return out[0], np.ascontiguousarray(out[1:4].T)

    def __repr__(self) -> str:
        return (
            f"<greenup.fmm.Plan: {self._kernel}, {self.sources} sources, {self.targets} targets, "
            f"order {self.order}, {self.device}>"
        )


def _charges(charges: ArrayLike, kernel: str, sources: int) -> NDArray[np.float64]:
    if kernel == "helmholtz":
        array: NDArray[Any] = np.asarray(charges)
        if array.dtype.kind not in "iufc":
            raise TypeError(f"charges must be numbers, not {array.dtype}")
        array = np.ascontiguousarray(array, dtype=np.complex128).reshape(array.shape)
        if not np.isfinite(array).all():
            raise ValueError("charges has values that are not finite")
    else:
        array = real(charges, "charges")
    shape = (sources, 3) if kernel == "stokes" else (sources,)
    if array.shape != shape:
        raise ValueError(f"charges must have shape {shape}, not {array.shape}")
    flat: NDArray[np.float64] = array.view(np.float64).reshape(-1)
    return flat


def evaluate(points: ArrayLike, charges: ArrayLike, targets: ArrayLike | None = None, **options: Any) -> Any:
    """Sums of ``charges`` at ``points`` over all sources, at ``targets`` or the sources themselves.

    ``options`` are those of :class:`Plan`: ``accuracy=1e-6``, ``kernel="laplace"``, ``gradient=False``,
    ``device="cpu"``, ... Returns an array of shape (m,); with ``gradient=True`` a pair (sums, gradients (m, 3)).
    The kernels have their factors, such as 1 / (4 pi r) for ``laplace``: see the table of ``greenup.fmm``.
    """
    # A plan takes long: wrong charges are refused before it.
    _charges(charges, options.get("kernel", "laplace"), len(positions(points, "points")))
    return Plan(points, targets, **options).evaluate(charges)
