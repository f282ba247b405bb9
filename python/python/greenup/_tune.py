"""Searches of Python functions and of compiled problems, and recorded sweeps."""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from . import _commands, _html, _native
from ._frames import frame
from ._meter import Measured, Measurement
from ._native import Best, Search, Space
from ._process import Progress, run_command

Point = dict[str, Any]
Cost = float | Sequence[float] | Measurement | Measured | None


class Sweep(_native.Sweep):
    """The trials of a search, read from where they were recorded.

    ``Sweep(path)``: the folder of a search by `tune` or the command ``greenup tune``, or another tuner's file (Kernel
    Tuner's cache or T4, CSV).
    """

    #: The temporary folder of a sweep that `tune` made without ``out``: removed with the sweep.
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def frame(self) -> Any:
        """A data frame with a row a trial (a list of dicts without pandas).

        Columns: the parameters, ``time_s`` (s), ``energy_j`` (J, None where it was not measured), ``failure`` and
        ``message`` (None for a measured trial), and the trial's metrics.
        """
        return frame(self.trials)

    def analyze(self, share: float = 0.5, seed: int = 1) -> dict[str, Any]:
        """What separates fast and slow, frugal and wasteful trials.

        Returns a dict: ``rows`` (a data frame: trial, time_s, energy_j, performance, efficiency), ``fastest`` and
        ``lowest_energy`` (rows of it), ``importance`` (a data frame: parameter, time, energy; shares of the
        variation), ``correlations``, ``front``, and the rest as ``greenup analyze --json`` prints it. ``share`` of the
        trials teaches the surrogate model.
        """
        found = self.analysis(share, seed)
        found["rows"] = frame(found["rows"])
        energy = found.get("importance_energy") or [None] * len(self.parameters)
        shares = found["importance_time"] or [None] * len(self.parameters)
        importance = [
            {"parameter": p, "time": t, "energy": e} for p, t, e in zip(self.parameters, shares, energy)
        ]
        found["importance"] = frame(importance)
        found["correlations"] = frame(found["correlations"])
        return found

    def _repr_html_(self) -> str:
        rows = self.trials
        measured = sorted((r for r in rows if r["time_s"] is not None), key=lambda r: r["time_s"])
        head = [*self.parameters, "time, s", "energy, J"]
        best = [[*(r[p] for p in self.parameters), r["time_s"], r["energy_j"]] for r in measured[:10]]
        failed = len(rows) - len(measured)
        text = f"{self.name} on {self.device}: {len(rows)} trials, {failed} failed; the fastest"
        return _html.table(head, best, text)

    def __repr__(self) -> str:
        return f"<greenup.Sweep {self.name!r} on {self.device}: {len(self)} trials>"


class Result:
    """What a search of a Python function found.

    ``best``: the best point with its cost, a `Best`; None if every trial failed. ``trials``: all trials in order, dicts with
    the parameters and ``cost`` (None for a failure). ``search``: the `Search`.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.trials = search.trials
        self.best: Best | None = search.best

    def frame(self) -> Any:
        """A data frame with a row a trial (a list of dicts without pandas)."""
        return frame(self.trials)

    def __len__(self) -> int:
        return len(self.trials)

    def __repr__(self) -> str:
        return f"<greenup.Result: {len(self.trials)} trials, best {self.best}>"

    def _repr_html_(self) -> str:
        names = self.search.space.names
        key = lambda r: r["cost"][0] if isinstance(r["cost"], list) else r["cost"]  # noqa: E731
        done = sorted((r for r in self.trials if r["cost"] is not None), key=key)
        rows = [[*(r[n] for n in names), r["cost"]] for r in done[:10]]
        return _html.table([*names, "cost"], rows, f"{len(self.trials)} trials; the best")


@overload
def tune(
    problem: Space | Mapping[str, Any] | str | os.PathLike[str],
    objective: Callable[[Point], Cost],
    *,
    strategy: str = ...,
    trials: int | None = ...,
    seconds: float | None = ...,
    seed: int = ...,
    out: str | os.PathLike[str] | None = ...,
    resume: bool = ...,
    catch: type[BaseException] | Iterable[type[BaseException]] = ...,
    callback: Callable[[dict[str, Any]], object] | None = ...,
) -> Result: ...
@overload
def tune(
    problem: str | os.PathLike[str],
    objective: None = None,
    *,
    strategy: str = ...,
    trials: int | None = ...,
    seconds: float | None = ...,
    seed: int = ...,
    out: str | os.PathLike[str] | None = ...,
    resume: bool = ...,
    device: str | None = ...,
    arguments: Iterable[str] = ...,
) -> Sweep: ...
def tune(
    problem: Any,
    objective: Any = None,
    *,
    strategy: str = "portfolio",
    trials: int | None = None,
    seconds: float | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    catch: Any = (),
    callback: Any = None,
    device: str | None = None,
    arguments: Iterable[str] = (),
) -> Result | Sweep:
    """Finds the best point.

    ``tune(space, function)``: minimises ``function(point)`` over a `Space` (or its dict, text or file) in this process. The
    function gets a dict and returns a cost (a finite number, or several), a `Measurement` (its time is the cost), or
    None if the point fails. Exceptions of the types in ``catch`` are failures too; any other, and Ctrl-C, ends the
    search: the trials so far are the ``result`` of the exception. With ``out`` each trial is also appended to a
    folder, which `Sweep`, ``greenup analyze`` and ``replay`` read, and which ``resume=True`` goes on with.
    ``callback(trial)`` is called after each trial with its dict. Returns a `Result`.

    ``tune("problem.toml")``: tunes a compiled problem or a command, by the program ``greenup`` of this package, which shows
    its progress on a terminal. ``device`` is that of ``greenup tune --device``: ``"cuda:0"``, ``"opencl:0.0"``, …
    ``out`` is the folder of the sweep; without it the folder is a temporary one, which is removed with the sweep.
    ``arguments`` are further flags of ``greenup tune``, as ``["--objective", "energy"]``. Returns a `Sweep`.

    ``trials``: most evaluations (default: all points, at most 100; of a compiled problem the command's default).
    ``seconds``: most time of the search, s; the best configs of a problem file are measured again after it.
    """
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"seconds must be above 0, not {seconds}")
    if objective is None:
        if catch != () or callback is not None:
            raise TypeError("catch and callback are for functions: a compiled problem is tuned by a program without Python")
        return _compiled(problem, strategy, trials, seconds, seed, out, resume, device, arguments)
    if not callable(objective):
        raise TypeError(f"the objective is a function of a point, not {objective!r}")
    if device is not None or list(arguments):
        raise TypeError("device and arguments are for compiled problems: a function is called in this process")
    catch = tuple(catch) if isinstance(catch, (tuple, list)) else (catch,)
    space = problem if isinstance(problem, Space) else Space(problem)
    most = 100 if trials is None and seconds is None else trials
    search = Search(space, strategy=strategy, trials=most, seed=seed, out=out, resume=resume)
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while end is None or time.monotonic() < end:
            point = search.ask()
            if point is None:
                break
            _evaluate(search, point, objective, catch)
            if callback is not None:
                callback(search._last())
    except BaseException as e:
        e.result = Result(search)  # type: ignore[attr-defined]
        raise
    finally:
        search.close()
    return Result(search)


def _evaluate(
    search: Search, point: Point, objective: Callable[[Point], Cost], catch: tuple[type[BaseException], ...]
) -> None:
    start = time.perf_counter()
    try:
        # A copy: what the function does with it changes nothing here.
        cost = objective(dict(point))
    except catch as e:
        search.tell(point, None, message=f"{type(e).__name__}: {e}")
        return
    seconds = time.perf_counter() - start
    if isinstance(cost, (Measurement, Measured)):
        if cost.seconds is None:
            raise ValueError("the measurement of the cost has not ended: return it after its block")
        search.tell(point, cost.seconds, seconds=cost.seconds, joules=cost.joules)
    else:
        search.tell(point, cost, seconds=seconds)


def _compiled(
    problem: Any,
    strategy: str,
    trials: int | None,
    seconds: float | None,
    seed: int,
    out: str | os.PathLike[str] | None,
    resume: bool,
    device: str | None,
    arguments: Iterable[str],
) -> Sweep:
    if isinstance(problem, (Space, Mapping)):
        raise TypeError("a space has nothing to measure: give a function of a point as the objective")
    file = os.fspath(problem)
    if not os.path.exists(file):
        raise FileNotFoundError(2, "No such file or directory", file)
    if trials is not None and seconds is not None:
        raise ValueError("give trials or seconds, not both")
    folder = None
    if out is None:
        if resume:
            raise ValueError("name the folder of the sweep that goes on: out=…")
        folder = tempfile.TemporaryDirectory(prefix="greenup-")
        out = os.path.join(folder.name, "sweep")
    command = [_commands.path("greenup"), "tune", file, "--out", os.fspath(out)]
    command += ["--strategy", strategy, "--seed", str(seed), "--quiet"]
    if trials is not None:
        command += ["--budget", str(trials)]
    if seconds is not None:
        command += ["--budget", f"{seconds}s"]
    if device is not None:
        command += ["--device", device]
    if resume:
        command.append("--resume")
    run_command([*command, *arguments], Progress(out))
    sweep = Sweep(out)
    sweep._folder = folder
    return sweep
