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

import json

import numpy as np

from . import _native
from ._arrays import points as positions
from ._arrays import real

__all__ = ["Plan", "evaluate"]


class Plan:
    """Everything that depends on the positions alone, for any number of :meth:`evaluate` calls.

    ``points``: sources, shape (n, 3); ``targets``: shape (m, 3) (default: the sources). ``accuracy``: relative L2 error.
    ``kernel`` and its parameter ``kappa`` (yukawa, inverse screening length), ``k`` (helmholtz, wave number) or ``mu``
    (stokes, viscosity). ``gradient``: compute gradients, too. ``device``: ``"cpu"``, ``"cuda"``, ``"cuda:N"``,
    ``"cuda+cpu"``. ``precision``: ``"f64"`` or ``"f32"``. ``ncrit``: maximum points per leaf; ``order``: surface order p
    (defaults: by device and accuracy).
    """

    def __init__(
        self,
        points,
        targets=None,
        *,
        accuracy=1e-6,
        kernel="laplace",
        kappa=1.0,
        k=1.0,
        mu=1.0,
        gradient=False,
        device="cpu",
        precision="f64",
        ncrit=None,
        order=None,
    ):
        self._kernel = kernel
        self._gradient = bool(gradient)
        parameter = {"yukawa": kappa, "helmholtz": k, "stokes": mu}.get(kernel, 0.0)
        self._plan = _native.FmmPlan(
            positions(points, "points"),
            None if targets is None else positions(targets, "targets"),
            (kernel, float(parameter), self._gradient),
            (float(accuracy), precision, device),
            (ncrit, order),
        )

    sources = property(lambda self: self._plan.sources, doc="Number of sources.")
    targets = property(lambda self: self._plan.targets, doc="Number of targets.")
    order = property(lambda self: self._plan.order, doc="Surface order p.")
    ncrit = property(lambda self: self._plan.ncrit, doc="Maximum number of points per leaf.")
    setup_s = property(lambda self: self._plan.setup_s, doc="Seconds of the set-up.")
    device = property(lambda self: self._plan.device, doc="Name of the GPU, or instruction set of the CPU.")

    @property
    def phases(self):
        """Seconds of the phases of the last evaluation, by name."""
        return json.loads(self._plan.phases())

    def evaluate(self, charges):
        """Sums at the targets; with gradients a pair (sums, gradients), gradients of shape (m, 3)."""
        plan, flat = self._plan, self._charges(charges)
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

    def _charges(self, charges):
        n = self._plan.sources
        if self._kernel == "helmholtz":
            array = np.asarray(charges)
            if array.dtype.kind not in "iufc":
                raise TypeError(f"charges must be numbers, not {array.dtype}")
            array = np.ascontiguousarray(array, dtype=np.complex128).reshape(array.shape)
            if not np.isfinite(array).all():
                raise ValueError("charges has values that are not finite")
        else:
            array = real(charges, "charges")
        shape = (n, 3) if self._kernel == "stokes" else (n,)
        if array.shape != shape:
            raise ValueError(f"charges must have shape {shape}, not {array.shape}")
        return array.view(np.float64).reshape(-1)

    def __repr__(self):
        return (
            f"<greenup.fmm.Plan: {self._kernel}, {self.sources} sources, {self.targets} targets, "
            f"order {self.order}, {self.device}>"
        )


def evaluate(points, charges, targets=None, **options):
    """Sums of ``charges`` at ``points`` over all sources, at ``targets`` or the sources themselves.

    ``options`` are those of :class:`Plan`: ``accuracy=1e-6``, ``kernel="laplace"``, ``gradient=False``,
    ``device="cpu"``, ... Returns an array of shape (m,); with ``gradient=True`` a pair (sums, gradients (m, 3)).
    """
    return Plan(points, targets, **options).evaluate(charges)
