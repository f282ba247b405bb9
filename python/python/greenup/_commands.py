"""The commands `greenup`, `gisaxs`, `hydro`, `fmm`, `greenup-paper` and `greenup-scaling`, which are programs of this package."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def path(name: str = "greenup") -> str:
    """The file of a command; ``$GREENUP_BIN`` (the program ``greenup``, or a folder with all) comes first."""
    named = os.environ.get("GREENUP_BIN")
    if named:
        folder = named if os.path.isdir(named) else os.path.dirname(named)
        if name == "greenup" and not os.path.isdir(named):
            return named
        return os.path.join(folder, name)
    return os.path.join(FOLDER, name)


def _become(name: str) -> NoReturn:
    file = os.path.join(FOLDER, name)
    sys.stdout.flush()
    os.execv(file, [name, *sys.argv[1:]])


def greenup() -> NoReturn:
    _become("greenup")


def gisaxs() -> NoReturn:
    _become("gisaxs")


def hydro() -> NoReturn:
    _become("hydro")


def fmm() -> NoReturn:
    _become("fmm")


def paper() -> NoReturn:
    _become("greenup-paper")


def scaling() -> NoReturn:
    _become("greenup-scaling")
