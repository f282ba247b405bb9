"""Rows as a data frame where pandas is there."""

from __future__ import annotations

from typing import Any


def frame(rows: list[dict[str, Any]]) -> Any:
    """``pandas.DataFrame(rows)``, or the rows themselves (a list of dicts) without pandas."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
