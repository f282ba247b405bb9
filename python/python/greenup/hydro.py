"""Lagrangian hydrodynamics with high-order finite elements, stepped from Python. Any consistent units.

>>> run = greenup.hydro.Run(problem=1, mesh="square01_quad", refine=2)
>>> run.run(0.1)
>>> x, y = run.x                      # positions of the kinematic nodes
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import to_json

__all__ = ["Run"]

Path = str | os.PathLike[str]


class Run:
    """A run between two steps.

    ``problem``: a number or a name that ``hydro list`` shows, or a file ``*.toml``. ``mesh``: a name as in ``hydro run --help``, the zones of a unit box
    such as ``"48x48"``, or a file. ``refine``: uniform refinements of it, also of a box; 2 by default. The other settings are those of ``hydro run``:
    ``order``, ``energy_order``, ``ode``, ``assembly`` (``"full"``, ``"partial"``), ``device`` (``"cpu"``, ``"cuda"``,
    ``"cuda:N"``, ``"cuda+cpu"``), ``cfl``, ``cg_tol``, ``cg_max``, ``e0``, ``t_final``; what is left out is the problem's
    default. ``threads``: number of threads (default: all cores). ``comm``: an MPI communicator of mpi4py, whose ranks share
    the zones; all call the same methods, and each sees the arrays of its part.

    A run computes on threads of its own: Python's other threads go on. Ctrl-C ends :meth:`run` and :meth:`step` after
    the step that is under way; no accepted step is lost. ``t``, ``dt``, ``steps`` and ``rejected`` are those of the last
    accepted step, also in other threads and in signal handlers; all else waits for the call that is under way.
    """

    def __init__(
        self,
        problem: int | Path = 1,
        mesh: Path | None = None,
        refine: int | None = None,
        *,
        order: int | None = None,
        energy_order: int | None = None,
        ode: int | str | None = None,
        assembly: str | None = None,
        device: str | None = None,
        cfl: float | None = None,
        cg_tol: float | None = None,
        cg_max: int | None = None,
        e0: float | None = None,
        t_final: float | None = None,
        threads: int | None = None,
        comm: Any = None,
    ) -> None:
        settings: dict[str, Any] = {
            "problem": os.fspath(problem) if isinstance(problem, os.PathLike) else str(problem),
            "mesh": os.fspath(mesh) if isinstance(mesh, os.PathLike) else mesh,
            "refine": refine,
            "order": order,
            "energy_order": energy_order,
            "ode": ode,
            "assembly": assembly,
            "device": device,
            "cfl": cfl,
            "cg_tol": cg_tol,
            "cg_max": cg_max,
            "e0": e0,
            "t_final": t_final,
        }
        given = {name: value for name, value in settings.items() if value is not None}
        for name, endings in (("problem", (".toml",)), ("mesh", (".mesh", ".msh"))):
            if isinstance(given.get(name), str) and given[name].endswith(endings):
                _check_readable(given[name])
        # One by one, so that an error names the setting.
        text = ", ".join(f'"{name}": {to_json(value, name)}' for name, value in given.items())
        self._start(f"{{{text}}}", None, threads, comm)

    @classmethod
    def load(cls, path: Path, *, threads: int | None = None, comm: Any = None) -> Run:
        """The run that a checkpoint of :meth:`save` or ``hydro run --checkpoint`` holds; it goes on with identical digits."""
        self = cls.__new__(cls)
        _check_readable(path)
        self._start(None, os.fspath(path), threads, comm)
        return self

    def _start(self, settings: str | None, checkpoint: str | None, threads: int | None, comm: Any) -> None:
        self._comm, communicator = _communicator(comm)
        if threads is None:
            threads = max(1, len(os.sched_getaffinity(0)) // _local_ranks(self._comm))
        if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
            raise TypeError(f"threads={threads!r}: use a whole number, 1 to 4096")
        if not 1 <= threads <= 4096:
            raise ValueError(f"threads={threads}: use 1 to 4096")
        self._run = _native.HydroRun(settings, checkpoint, threads, communicator)
        self._views = 0

    @property
    def t(self) -> float:
        """Time of the last accepted state."""
        return self._run.times()[0]

    @property
    def dt(self) -> float:
        """Next time step."""
        return self._run.times()[1]

    @property
    def steps(self) -> int:
        """Number of accepted steps."""
        return self._run.times()[2]

    @property
    def rejected(self) -> int:
        """Number of rejected steps."""
        return self._run.times()[3]

    @property
    def t_final(self) -> float:
        """Final time of the problem."""
        return self._run.t_final()

    @property
    def dim(self) -> int:
        """Dimension of the mesh."""
        return self._run.sizes()[0]

    @property
    def nodes(self) -> int:
        """Number of kinematic nodes (of this rank's part)."""
        return self._run.sizes()[1]

    @property
    def zones(self) -> int:
        """Number of zones (of this rank's part)."""
        return self._run.sizes()[2]

    @property
    def unknowns(self) -> int:
        """Number of unknowns of all ranks."""
        return self._run.sizes()[4]

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._run.sizes()[5]

    @property
    def x(self) -> NDArray[np.float64]:
        """Copy of the positions of the nodes, shape (dim, nodes)."""
        return self._run.field("x")

    @property
    def v(self) -> NDArray[np.float64]:
        """Copy of the velocities of the nodes, shape (dim, nodes)."""
        return self._run.field("v")

    @property
    def e(self) -> NDArray[np.float64]:
        """Copy of the specific internal energies, Bernstein coefficients, shape (zones, coefficients)."""
        return self._run.field("e")

    @property
    def zone_nodes(self) -> NDArray[np.uint32]:
        """Indices of the nodes of each zone, shape (zones, nodes of a zone)."""
        return self._run.zone_nodes().reshape(self.zones, -1)

    def step(self, steps: int = 1) -> float:
        """Makes some steps; the time step follows the CFL condition. Returns the time."""
        return self._advance(float("inf"), _count(steps))

    def run(
        self, t: float | None = None, callback: Callable[[Run], object] | None = None, *, steps: int | None = None
    ) -> float:
        """Advances to time ``t`` (default: the problem's final time), by at most ``steps`` steps. Returns the time reached.

        ``callback(run)`` is called after each step; it may return ``False`` to stop, and an exception in it ends the
        run after that step.
        """
        end = self.t_final if t is None else float(t)
        if not end >= self.t:
            raise ValueError(f"t={end}: the run is at t = {self.t}")
        left = None if steps is None else _count(steps)
        if callback is None:
            return self._advance(end, left)
        while self.t < end and left != 0:
            before = self.steps
            self._advance(end, 1)
            if self.steps == before or _is_false(callback(self)):
                break
            left = None if left is None else left - 1
        return self.t

    def _advance(self, end: float, steps: int | None) -> float:
        if self._views:
            raise _native.HydroError("a view of the state is open: end its `with` block before the next step")
        self._run.advance(end, steps)
        return self.t

    @contextmanager
    def view(self, name: Literal["x", "v", "e"]) -> Iterator[NDArray[np.float64]]:
        """A read-only array of ``"x"``, ``"v"`` or ``"e"``; while the ``with`` block runs, steps are refused.

        >>> with run.view("x") as x:
        ...     highest = x[1].max()
        """
        array = self._run.field(name)
        array.flags.writeable = False
        self._views += 1
        try:
            yield array
        finally:
            self._views -= 1

    def energies(self) -> tuple[float, float]:
        """Total internal and kinetic energy (of all ranks)."""
        return self._run.energies()

    def report(self) -> dict[str, Any]:
        """A dict of steps, time, energies and their drift since the start, and seconds of the parts of the steps.

        The drift is ``None`` where a wall moves, since its work is not known.
        """
        report, timings, _ = self._run.report()
        return {**json.loads(report), "timings": json.loads(timings)}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings with their values, a dict."""
        settings: dict[str, Any] = json.loads(self._run.report()[2])
        return settings

    def save(self, path: Path) -> None:
        """Writes a checkpoint, from which :meth:`load` and ``hydro restart`` go on."""
        path = os.fspath(path)
        # Raises FileNotFoundError if the folder is not there.
        os.stat(os.path.dirname(path) or ".")
        self._run.save(path)

    def __copy__(self) -> NoReturn:
        raise TypeError("a run cannot be copied: save it, and load the file")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<greenup.hydro.Run: problem {s['problem']}, {s['mesh']}, {self.zones} zones, "
            f"step {self.steps}, t = {self.t:.6g}>"
        )


def _is_false(value: object) -> bool:
    """Whether it is False of Python or of NumPy, which comparisons of arrays give; None is not."""
    return isinstance(value, (bool, np.bool_)) and not value


def _check_readable(path: Path) -> None:
    """Raises the OSError of a file that cannot be read."""
    with open(path, "rb"):
        pass


def _count(steps: object) -> int:
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ValueError(f"steps={steps!r}: use a whole number, 0 or more")
    return int(steps)


def _communicator(comm: Any) -> tuple[Any, tuple[int, str] | None]:
    """A duplicate of a communicator, and its handle with the version of its MPI."""
    if comm is None:
        return None, None
    import ctypes
    import sys

    from mpi4py import MPI

    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm is an intracommunicator of mpi4py, not {type(comm).__name__}")
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise RuntimeError("MPI was started for calls of one thread: set mpi4py.rc.thread_level to serialized or more")
    # Messages of the run and of the program do not meet.
    own = comm.Dup()
    memory = ctypes.string_at(MPI._addressof(own), MPI._sizeof(own))
    return own, (int.from_bytes(memory, sys.byteorder), MPI.Get_library_version())


def _local_ranks(comm: Any) -> int:
    if comm is None:
        return 1
    from mpi4py import MPI

    local = comm.Split_type(MPI.COMM_TYPE_SHARED)
    size: int = local.Get_size()
    local.Free()
    return size
