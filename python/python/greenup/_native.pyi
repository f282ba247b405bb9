"""The native module. Units are SI; errors are those of ``greenup``, ``ValueError`` and ``TypeError``."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, SupportsIndex, final, overload

from numpy import complex128, float64, uint32
from numpy.typing import NDArray
from typing_extensions import disjoint_base

# A bool, int, float, str, tuple or None: which one, the space says.
_Value = Any
_Point = dict[str, Any]
# A list, range, array, or a string in the notation of spaces.
_Values = Sequence[Any] | NDArray[Any] | str
_Filter = str | Callable[..., object]
_Path = str | PathLike[str]

__version__: str

class GreenupError(Exception):
    """What went wrong; ``hint`` is the fix, which tracebacks of Python 3.11 and later show as a note."""

    hint: str | None

class SpaceError(GreenupError):
    """A parameter space that cannot be read, built or counted."""
class TuneError(GreenupError):
    """A search, a problem or a recorded sweep."""
class ModelError(GreenupError):
    """A machine that is not known or lacks a cost, or impossible work."""
class MeterError(GreenupError):
    """A sensor or a measurement."""
class GisaxsError(GreenupError):
    """A sample, a shape or a simulation of scattering."""
class FmmError(GreenupError):
    """Points or an evaluation of the fast multipole method."""
class HydroError(GreenupError):
    """A hydrodynamics run."""

@final
class Space:
    """A parameter space: values of parameters and filters. Points are dicts, numbered from 0."""

    def __new__(
        cls,
        source: Mapping[str, _Values] | _Path,
        *,
        filters: _Filter | Sequence[_Filter] | None = None,
        name: str | None = None,
        facts: dict[str, _Value] | None = None,
        memory: int = 805_306_368,
    ) -> Space: ...
    @property
    def name(self) -> str:
        """Name of the space."""
    @property
    def names(self) -> list[str]:
        """Names of the parameters, in declared order."""
    @property
    def constants(self) -> _Point:
        """Named constants."""
    @property
    def source(self) -> str | None:
        """The file; None for a text or a dict."""
    def count(self) -> int:
        """Number of points, without an index where no filter is a function. SpaceError where a filter has no value."""
    def position(self, point: _Point) -> int:
        """Number of a point. ValueError if it is not in the space, KeyError if it lacks a parameter."""
    def sample(self, n: int, seed: int = 1) -> list[_Point]:
        """``n`` different points, uniformly chosen. ValueError if ``n`` is negative, MemoryError if they do not fit."""
    def neighbours(self, point: _Point | int, adjacent: bool = False) -> list[_Point]:
        """Points that differ in one parameter; ``adjacent``: by one value."""
    def values(self) -> dict[str, list[_Value]]:
        """Values that each parameter takes in the space."""
    def derived(self, point: _Point) -> _Point:
        """Derived values of a point."""
    def funnel(self, seconds: float = 1.0) -> list[dict[str, Any]]:
        """How the filters prune, a dict each; ``seconds`` limit the counting."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> _Point: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[_Point]: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __iter__(self) -> Points: ...

@final
class Points:
    """The points of a space, in order."""

    def __iter__(self) -> Points: ...
    def __next__(self) -> _Point: ...

@final
class Machine:
    """A machine model. ModelError for an unknown name, OSError for a file that cannot be read."""

    __hash__ = None  # type: ignore[assignment]
    def __new__(cls, name: _Path) -> Machine: ...
    @staticmethod
    def from_toml(text: str) -> Machine:
        """A machine from the text of a file."""
    def to_toml(self) -> str:
        """The text of its file."""
    @property
    def name(self) -> str:
        """Name."""
    @property
    def title(self) -> str:
        """Name in words."""
    @property
    def label(self) -> str:
        """Where its costs are from, in a word."""
    @property
    def sources(self) -> list[str]:
        """Sources of its costs."""
    @property
    def has_energy(self) -> bool:
        """Whether its energies are known."""
    @property
    def constant_power(self) -> float | None:
        """Constant power, W."""
    @property
    def usable_power(self) -> float | None:
        """Power cap less the constant power, W."""
    @property
    def costs(self) -> dict[str, dict[str, float | None]]:
        """Costs by operation: s and J each."""
    def time_balance(self) -> float | None:
        """flop per byte at which compute and memory take equal time."""
    def energy_balance(self) -> float | None:
        """flop per byte at which both take equal energy."""
    def predict(self, work: dict[str, float]) -> dict[str, Any]:
        """Time (s), energy (J) and power (W) of work, a dict of operations. ModelError where a cost is missing."""
    def predict_clocked(self, work: dict[str, float]) -> dict[str, Any]:
        """The same with a lower clock at the power cap."""
    def throttled(self, factor: float) -> Machine:
        """The machine with its usable power divided by ``factor``."""
    def power_bounded(self, watts: float) -> Machine:
        """The machine with a power cap, W."""
    def cluster(self, devices: float) -> Machine:
        """So many devices as one."""
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Any, /) -> bool: ...
    def __le__(self, other: Any, /) -> bool: ...
    def __gt__(self, other: Any, /) -> bool: ...
    def __ge__(self, other: Any, /) -> bool: ...

@final
class Best:
    """The best point of a search or sweep."""

    __hash__ = None  # type: ignore[assignment]
    @property
    def config(self) -> _Point:
        """Parameters of the point."""
    @property
    def value(self) -> float:
        """What the search compares: the cost, or time (s), energy (J), …"""
    @property
    def values(self) -> dict[str, float]:
        """Values by name: ``objective``, ``time_s`` (s), ``energy_j`` (J), metrics."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Any, /) -> bool: ...
    def __le__(self, other: Any, /) -> bool: ...
    def __gt__(self, other: Any, /) -> bool: ...
    def __ge__(self, other: Any, /) -> bool: ...

@final
class Search:
    """A search by asking and telling. TuneError for an unknown strategy or an empty space."""

    def __new__(
        cls,
        space: Space,
        *,
        strategy: str = "portfolio",
        trials: int | None = None,
        seed: int = 1,
        out: _Path | None = None,
        resume: bool = False,
    ) -> Search: ...
    def ask(self) -> _Point | None:
        """The next point; None at the end. TuneError where the strategy waits for results."""
    def _ask_together(self) -> list[_Point]: ...
    def tell(
        self,
        point: _Point,
        cost: float | Sequence[float] | None,
        *,
        seconds: float | None = None,
        joules: float | None = None,
        message: str | None = None,
    ) -> None:
        """Takes the cost of a point, or None for a failure. ``seconds`` in s, ``joules`` in J."""
    def close(self) -> None:
        """Frees the folder of ``out``."""
    def _last(self) -> dict[str, Any] | None: ...
    @property
    def best(self) -> Best | None:
        """The best point so far; None before the first success."""
    @property
    def trials(self) -> list[dict[str, Any]]:
        """All trials: the parameters and ``cost``."""
    @property
    def space(self) -> Space:
        """The space."""
    @property
    def strategy(self) -> str:
        """Name of the strategy."""
    @property
    def left(self) -> int:
        """Trials left."""
    def __len__(self) -> int: ...

@disjoint_base
class Sweep:
    """The trials of a search, as recorded. OSError, TuneError for a file that is no sweep."""

    def __new__(cls, source: _Path) -> Sweep: ...
    @property
    def path(self) -> PathLike[str]:
        """Where it was read from."""
    @property
    def name(self) -> str:
        """Name of the problem."""
    @property
    def device(self) -> str:
        """Device that measured it."""
    @property
    def parameters(self) -> list[str]:
        """Names of the parameters."""
    @property
    def facts(self) -> dict[str, Any]:
        """Facts of the run."""
    @property
    def trials(self) -> list[dict[str, Any]]:
        """All trials: parameters, ``time_s`` (s), ``energy_j`` (J), ``failure``, ``message``, metrics."""
    @property
    def best(self) -> Best | None:
        """The best trial by the sweep's objective; None if none succeeded."""
    def best_by(self, objective: str) -> Best | None:
        """The best trial by another objective. TuneError where the trials lack what it needs."""
    def analysis(self, share: float = 0.5, seed: int = 1) -> dict[str, Any]:
        """What the trials show. ValueError for a ``share`` beyond 0 to 1."""
    def replay(
        self,
        strategy: str,
        *,
        trials: int | None = None,
        seconds: float | None = None,
        objective: str | None = None,
        seed: int = 1,
    ) -> dict[str, Any]:
        """What a strategy would have found with a budget of ``trials`` or ``seconds``."""
    def __len__(self) -> int: ...

@final
class Recorder:
    """Time and energy of a block. MeterError for an unknown sensor."""

    def __new__(cls, sensor: str | None = None) -> Recorder: ...
    def begin(self) -> None:
        """Begins."""
    def end(self) -> dict[str, Any]:
        """Ends: time (s), energy (J), why there is none."""

def machines() -> list[Machine]:
    """All shipped machines."""
def operations() -> dict[str, str]:
    """Classes of work with their units."""
def strategies() -> dict[str, str]:
    """Strategies, each with a line about it."""
def region_begin(name: str) -> None:
    """Begins a region."""
def region_end(name: str) -> float | None:
    """Ends it; its time, s."""
def measure_calls(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    *,
    sensor: str | None,
    window: float,
    repeats: tuple[int, int],
    error: float,
    warmup: float,
) -> dict[str, Any]:
    """Time (s) and energy (J) of repeated calls. MeterError."""

_Sample = tuple[str, str, _Path]

@final
class GisaxsScene:
    """Detector of a simulated image."""

    def axes(self) -> list[tuple[str, float, float]]:
        """Title, least and greatest value of both axes."""
    def angles(self) -> list[NDArray[float64]]:
        """Azimuth and exit angle of all pixels, degrees."""
    def figure(self, pixels: NDArray[float64], format: str) -> bytes:
        """The image as a file."""

def gisaxs_simulate(
    page: _Sample, set: Sequence[tuple[str, float]], device: str, accuracy: float
) -> tuple[NDArray[float64], tuple[int, int], GisaxsScene]:
    """Photons per pixel, (rows, columns), detector. GisaxsError."""
def gisaxs_form_factor(
    vertices: NDArray[float64], triangles: NDArray[Any], weld: bool, q: NDArray[float64], accuracy: float, device: str
) -> NDArray[complex128]:
    """F at ``q`` of shape (n, 4): q_x, q_y, Re q_z, Im q_z in 1/nm; nm³. GisaxsError."""
def gisaxs_form_factor_grid(
    vertices: NDArray[float64],
    triangles: NDArray[Any],
    weld: bool,
    xy: tuple[NDArray[float64], NDArray[float64]],
    z: NDArray[complex128],
    how: tuple[float, str],
) -> NDArray[complex128]:
    """F on a grid, flat: z, x, y; nm³."""
def gisaxs_reflectivity(
    page: _Sample, set: Sequence[tuple[str, float]], angles: NDArray[float64]
) -> NDArray[float64]:
    """Reflectivity at angles in degrees."""
def gisaxs_fit(path: _Path, device: str) -> str:
    """Result of a fit, JSON."""

@final
class FmmPlan:
    """What depends on positions alone: sources (n, 3), targets (m, 3). FmmError, MemoryError."""

    def __new__(
        cls,
        sources: NDArray[float64],
        targets: NDArray[float64] | None,
        kernel: tuple[str, float, bool],
        how: tuple[float, str, str],
        sizes: tuple[int | None, int | None],
    ) -> FmmPlan: ...
    @property
    def inputs(self) -> int:
        """Numbers of a charge."""
    @property
    def outputs(self) -> int:
        """Numbers of a result."""
    @property
    def sources(self) -> int:
        """Number of sources."""
    @property
    def targets(self) -> int:
        """Number of targets."""
    @property
    def order(self) -> int:
        """Surface order p."""
    @property
    def ncrit(self) -> int:
        """Maximum points per leaf."""
    @property
    def setup_s(self) -> float:
        """Time of the set-up, s."""
    @property
    def device(self) -> str:
        """Name of the device."""
    def evaluate(self, charges: NDArray[float64]) -> NDArray[float64]:
        """Sums, flat: outputs times targets."""
    def phases(self) -> str:
        """Seconds of the phases, JSON."""

@final
class HydroRun:
    """A run between two steps. HydroError, OSError."""

    def __new__(
        cls, settings: str | None, checkpoint: _Path | None, threads: int, communicator: tuple[int, str] | None
    ) -> HydroRun: ...
    def sizes(self) -> tuple[int, int, int, int, int, int]:
        """dim, nodes, zones, coefficients, unknowns, ranks."""
    def advance(self, end: float, most: int | None) -> None:
        """Steps to a time, at most so many."""
    def times(self) -> tuple[float, float, int, int]:
        """t, dt, accepted and rejected steps."""
    def t_final(self) -> float:
        """Final time."""
    def field(self, name: str) -> NDArray[float64]:
        """A copy of x, v (dim, nodes) or e (zones, coefficients)."""
    def energies(self) -> tuple[float, float]:
        """Internal and kinetic energy."""
    def zone_nodes(self) -> NDArray[uint32]:
        """Nodes of the zones, flat."""
    def report(self) -> list[str]:
        """Report, timings and settings, JSON."""
    def save(self, path: _Path) -> None:
        """Writes a checkpoint."""
