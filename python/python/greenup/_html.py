"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def number(x: object) -> str:
    """A number with four digits; text as it is."""
    if x is None:
        return "–"
    if isinstance(x, float):
        return f"{x:.4g}"
    return str(x)


def table(head: Iterable[object], rows: Iterable[Iterable[object]], caption: str = "") -> str:
    """A table as HTML; cells are escaped."""
    cells = "".join(f"<th>{escape(str(h))}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(number(c))}</td>" for c in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
