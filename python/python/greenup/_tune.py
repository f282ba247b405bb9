"""Searches of Python functions and of compiled problems, and recorded sweeps."""

import math
import os
import signal
import subprocess
import tempfile
import time

from . import _commands, _html, _native
from ._frames import frame
from ._meter import Measured, Measurement
from ._native import Search, Space, TuneError


class Sweep(_native.Sweep):
    """The trials of a search, read from where they were recorded.

    ``Sweep(path)``: the folder of a search by `tune` or the command ``greenup tune``, or another tuner's file (Kernel
    Tuner's cache or T4, CSV).
    """

    def frame(self):
        """A data frame with a row a trial (a list of dicts without pandas).

        Columns: the parameters, ``time_s`` (s), ``energy_j`` (J, None where it was not measured), ``failure`` and
        ``message`` (None for a measured trial), and the trial's metrics.
        """
        return frame(self.trials)

    def analyze(self, share=0.5, seed=1):
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

    def _repr_html_(self):
        rows = self.trials
        measured = sorted((r for r in rows if r["time_s"] is not None), key=lambda r: r["time_s"])
        head = [*self.parameters, "time, s", "energy, J"]
        best = [[*(r[p] for p in self.parameters), r["time_s"], r["energy_j"]] for r in measured[:10]]
        failed = len(rows) - len(measured)
        text = f"{self.name} on {self.device}: {len(rows)} trials, {failed} failed; the fastest"
        return _html.table(head, best, text)

    def __repr__(self):
        return f"<greenup.Sweep {self.name!r} on {self.device}: {len(self)} trials>"


class Result:
    """What a search of a Python function found.

    ``best``: the best point (a dict; None if every trial failed). ``cost``: its cost. ``trials``: all trials in order,
    dicts with the parameters and ``cost`` (None for a failure). ``search``: the `Search`.
    """

    def __init__(self, search):
        self.search = search
        self.trials = search.trials
        best = search.best
        self.best, self.cost = best if best else (None, None)

    def frame(self):
        """A data frame with a row a trial (a list of dicts without pandas)."""
        return frame(self.trials)

    def __len__(self):
        return len(self.trials)

    def __repr__(self):
        return f"<greenup.Result: best {self.best} costs {self.cost}, of {len(self.trials)} trials>"

    def _repr_html_(self):
        names = self.search.space.names
        key = lambda r: r["cost"][0] if isinstance(r["cost"], list) else r["cost"]  # noqa: E731
        done = sorted((r for r in self.trials if r["cost"] is not None), key=key)
        rows = [[*(r[n] for n in names), r["cost"]] for r in done[:10]]
        return _html.table([*names, "cost"], rows, f"{len(self.trials)} trials; the best")


def tune(
    problem,
    objective=None,
    *,
    strategy="portfolio",
    trials=None,
    seconds=None,
    seed=0,
    out=None,
    resume=False,
    catch=(),
    callback=None,
    arguments=(),
):
    """Finds the best point.

    ``tune(space, function)``: minimises ``function(point)`` over a `Space` (or its text or file) in this process. The
    function gets a dict and returns a cost (a finite number, or several), a `Measurement` (its time is the cost), or
    None if the point fails. Exceptions of the types in ``catch`` are failures too; any other, and Ctrl-C, ends the
    search: the trials so far are the ``result`` of the exception. With ``out`` each trial is also appended to a
    folder, which `Sweep`, ``greenup analyze`` and ``replay`` read, and which ``resume=True`` goes on with.
    Returns a `Result`.

    ``tune("problem.toml", out=DIR)``: tunes a compiled problem or a command, by the program ``greenup`` of this
    package. Returns a `Sweep`. ``arguments`` are further flags of ``greenup tune``, as ``["--objective", "energy"]``.

    ``trials``: most evaluations (default: all points, at most 100; of a compiled problem the command's default).
    ``seconds``: most time, s. ``callback(trial)`` is called after each trial of a function with its dict.
    """
    if objective is None:
        return _compiled(problem, strategy, trials, seconds, seed, out, resume, arguments)
    if not callable(objective):
        raise TypeError(f"the objective is a function of a point, not {objective!r}")
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"seconds must be above 0, not {seconds}")
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
        e.result = Result(search)
        raise
    finally:
        search.close()
    return Result(search)


def _evaluate(search, point, objective, catch):
    start = time.perf_counter()
    try:
        # A copy: what the function does with it changes nothing here.
        cost = objective(dict(point))
    except catch as e:
        search.tell(point, None, message=f"{type(e).__name__}: {e}")
        return
    seconds = time.perf_counter() - start
    joules = None
    if isinstance(cost, (Measurement, Measured)):
        seconds, joules = cost.seconds, cost.joules
        cost = seconds
    search.tell(point, cost, seconds=seconds, joules=joules)


def _compiled(problem, strategy, trials, seconds, seed, out, resume, arguments):
    if isinstance(problem, Space):
        raise TypeError("a space has nothing to measure: give a function of a point as the objective")
    file = os.fspath(problem)
    if not os.path.exists(file):
        raise FileNotFoundError(2, "No such file or directory", file)
    if out is None:
        raise ValueError("name the folder of the sweep: out=…")
    if trials is not None and seconds is not None:
        raise ValueError("give trials or seconds, not both")
    command = [_commands.path("greenup"), "tune", file, "--out", os.fspath(out)]
    command += ["--strategy", strategy, "--seed", str(seed), "--quiet"]
    if trials is not None:
        command += ["--budget", str(trials)]
    if seconds is not None:
        command += ["--budget", f"{seconds}s"]
    if resume:
        command.append("--resume")
    run_command([*command, *arguments])
    return Sweep(out)


def run_command(command):
    """Runs a command of this package; raises `TuneError` with its message and hint.

    Ctrl-C reaches the command, which keeps what it measured and ends; then KeyboardInterrupt is raised.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
        # A group of its own: the terminal's Ctrl-C comes here alone and is passed on once.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=printed,
            start_new_session=True,
            env={**os.environ, "GREENUP_KEYWORDS": "1"},
        )
        try:
            code = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        printed.seek(0)
        text = printed.read()
    if code == 0:
        return
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [i for i, line in enumerate(lines) if line.startswith("error: ")]
    message = "\n".join(lines[errors[-1] :] if errors else lines[-5:]) or f"the command ended with {code}"
    message, _, hint = message.removeprefix("error: ").partition("\nhint: ")
    error = TuneError(message)
    error.hint = hint or None
    raise error
