"""Types of Kernel Tuner's interface, for the user's type checker."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

#: A config or a result, by names.
Named = dict[str, Any]
#: Code, a file, or a function that makes the code of a config; several files, the kernel's first.
Source = str | Path | Callable[..., str] | Sequence[str | Path | Callable[..., str]]
#: Sizes by dimension: numbers, expressions of parameters, or a function of the config.
Size = int | str | Sequence[int | str] | Callable[..., Any]
#: Divisors of the grid in a dimension.
Divisors = Sequence[str] | Callable[..., Any] | None
#: Filters: expressions, functions of a config, or constraints of python-constraint.
Restrictions = Sequence[Any] | Callable[..., bool] | None
#: Values of each parameter.
Params = Mapping[str, Any]
