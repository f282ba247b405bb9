"""Time and energy of blocks, functions and named parts of a program."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from . import _native

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


def _computes(function: Callable[..., object], awaited: bool = False) -> None:
    """Refuses a function whose call returns at once and computes later."""
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(inner)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise TypeError(f"{inner.__qualname__} is a generator: it computes while it is consumed; measure the loop around it")
    if inspect.iscoroutinefunction(inner) and not awaited:
        raise TypeError(f"{inner.__qualname__} is a coroutine: it computes while it is awaited; measure a block with the await in it")


class Measured:
    """Time and energy of a block, as ``with greenup.measure() as m`` gives it; complete when the block has ended.

    ==========  ===================================================================================
    `seconds`   time, s
    `joules`    energy, J; None without a sensor
    `watts`     mean power, W; None without a sensor
    `why`       why there is no energy; None where there is
    `sensor`    the sensor's name, as `--sensor` of the commands takes it
    `flags`     doubts, in words: a block shorter than the sensor's steps has an uncertain energy; samples passed over
    ==========  ===================================================================================
    """

    def __init__(self) -> None:
        self.seconds: float | None = None
        self.joules: float | None = None
        self.why: str | None = "the block has not ended"
        self.sensor: str | None = None
        self.flags: list[str] = []

    @property
    def watts(self) -> float | None:
        return None if self.joules is None or not self.seconds else self.joules / self.seconds

    def _fill(self, found: dict[str, Any]) -> None:
        self.seconds, self.joules = found["seconds"], found["joules"]
        self.why, self.sensor = found["why"], found["sensor"]
        if self.joules is not None and found["changes"] < 10:
            self.flags.append(f"the sensor changed {found['changes']} times in the block: every {found['period']:.3g} s")
        self.flags.extend(found["notes"])

    def __repr__(self) -> str:
        if self.seconds is None:
            return "<greenup.Measured: under way>"
        energy = f"{self.joules:.4g} J" if self.joules is not None else f"no energy ({self.why})"
        return f"<greenup.Measured: {self.seconds:.4g} s, {energy}>"

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [["time", self.seconds, "s"], ["energy", self.joules, "J"], ["power", self.watts, "W"]]
        return table(["", "value", "unit"], rows, self.why or f"by {self.sensor}")


class MeasuredFunction(Protocol[P, R]):
    """A function that keeps the measurement of its last call; None before the first."""

    measured: Measured | None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Measure:
    """What `measure` returns: a context manager, and a decorator.

    A decorated function keeps the measurement of its last call as ``function.measured``.
    """

    def __init__(self, sensor: str | None = None) -> None:
        self._sensor = sensor
        self._open: list[tuple[_native.Recorder, Measured]] = []

    def __enter__(self) -> Measured:
        recorder, measured = _native.Recorder(self._sensor), Measured()
        recorder.begin()
        self._open.append((recorder, measured))
        return measured

    def __exit__(self, *exception: object) -> Literal[False]:
        recorder, measured = self._open.pop()
        measured._fill(recorder.end())
        return False

    def __call__(self, function: Callable[P, R]) -> MeasuredFunction[P, R]:
        _computes(function, awaited=True)

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with Measure(self._sensor) as m:
                measured.measured = m
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def awaiting(*args: P.args, **kwargs: P.kwargs) -> Any:
            with Measure(self._sensor) as m:
                measured.measured = m
                return await cast("Any", function(*args, **kwargs))

        measured = cast("MeasuredFunction[P, R]", awaiting if inspect.iscoroutinefunction(function) else wrapper)
        measured.measured = None
        return measured


class Measurement:
    """Time and energy of one call of a function, measured repeatedly.

    ============  =====================================================================
    `seconds`     median time of a call, s
    `interval`    95 % interval of it, s
    `joules`      median energy of a call, J; None without a sensor
    `watts`       mean power, W; None without a sensor
    `why`         why there is no energy; None where there is
    `windows`     number of windows, each of many calls
    `energy_runs` windows whose energy is known; no energy is given where it is less than `windows`
    `flags`       doubts: noisy, not steady, throttled, too few steps of the sensor
    `details`     everything as a dict: also what each flag says, and `runs`, the windows
    ============  =====================================================================
    """

    seconds: float
    interval: tuple[float, float]
    joules: float | None
    watts: float | None
    windows: int
    energy_runs: int
    sensor: str | None
    why: str | None
    flags: list[str]

    def __init__(self, found: dict[str, Any]) -> None:
        self.details = found
        time, energy, power = found["time_s"], found["energy_j"], found["power_w"]
        self.seconds = time["median"]
        self.interval = (time["lo"], time["hi"])
        self.windows = time["n"]
        self.energy_runs = found["energy_runs"]
        self.joules = energy and energy["median"]
        self.watts = power and power["median"]
        self.sensor = found["sensor"]
        self.why = None
        if self.joules is None:
            failed = [f["detail"] for f in found["flags"] if f["flag"] == "sensor_failed"]
            self.why = found["missing"] or f"energies of {self.energy_runs} of {self.windows} windows: {'; '.join(failed)}"
        self.flags = [f["flag"] for f in found["flags"]]

    if not TYPE_CHECKING:  # A checker says that it cannot be called.

        def __call__(self, *args, **kwargs):
            raise TypeError(f"a Measurement cannot be called; {_DECORATOR}")

    def __repr__(self) -> str:
        energy = f"{self.joules:.4g} J" if self.joules is not None else f"no energy ({self.why})"
        low, high = self.interval
        return f"<greenup.Measurement: {self.seconds:.4g} s [{low:.4g} … {high:.4g}], {energy}>"

    def _repr_html_(self) -> str:
        from ._html import table

        energy = self.details["energy_j"] or {}
        rows = [
            ["time", self.seconds, *self.interval, "s"],
            ["energy", self.joules, energy.get("lo"), energy.get("hi"), "J"],
        ]
        return table(["", "median", "from", "to", "unit"], rows, self.why or f"by {self.sensor}")


_DECORATOR = "a function is decorated by @greenup.measure(), with parentheses"
_BLOCK = object()


@overload
def measure(*, sensor: str | None = ...) -> Measure: ...
@overload
def measure(
    function: Callable[..., object],
    *args: Any,
    sensor: str | None = ...,
    window: float = ...,
    repeats: tuple[int, int] = ...,
    error: float = ...,
    warmup: float = ...,
    **kwargs: Any,
) -> Measurement: ...
def measure(
    function: Any = _BLOCK,
    *args: Any,
    sensor: str | None = None,
    window: float = 0.15,
    repeats: tuple[int, int] = (3, 7),
    error: float = 0.01,
    warmup: float = 0.1,
    **kwargs: Any,
) -> Measure | Measurement:
    """Measures time and energy.

    ``with greenup.measure() as m:`` measures the block, ``@greenup.measure()`` every call of a function, a
    coroutine until it was awaited (see `Measured`).
    ``greenup.measure(function, *args, **kwargs)`` calls the function again and again and returns a `Measurement`: a
    warm-up of at least ``warmup`` s until the time is steady, then windows of ``window`` s, at least ``repeats[0]``, until
    the median is known to ``error`` (half its interval over the median), at most ``repeats[1]``.

    ``sensor``: a name (``greenup doctor`` lists them), ``"external:FILE"``, ``"recorded:FILE"``, or ``"none"``; by default
    the best one of this host. It is probed for half a second the first time. Without a sensor time is measured alone.
    """
    if function is _BLOCK:
        return Measure(sensor)
    if not callable(function):
        raise TypeError(f"a function is measured, not {function!r}: give the function itself, then its arguments")
    _computes(function)
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"measure calls {name} itself: {error}; {_DECORATOR}") from None
    except ValueError:
        pass  # One in C without a signature.
    try:
        least, most = repeats
    except TypeError:
        raise TypeError(f"repeats is a pair of the fewest and the most windows, as (3, 7), not {repeats!r}") from None
    found = _native.measure_calls(
        function, args, kwargs or None, sensor=sensor, window=window, repeats=(least, most), error=error, warmup=warmup
    )
    return Measurement(found)


class region:
    """A named part of a program: ``with greenup.region("solve"):``, or ``@greenup.region("solve")`` for a function.

    Regions nest, and threads have their own. What is recorded, and where, the variables of the environment
    ``GREENUP_REGIONS…`` say, as for programs in C; a summary is printed at the end of the program.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a region is a string, not {name!r}")
        self._name = name

    def __enter__(self) -> region:
        _native.region_begin(self._name)
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        _native.region_end(self._name)
        return False

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        _computes(function)
        name = self._name

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with region(name):
                return function(*args, **kwargs)

        return wrapper
