"""The commands `greenup`, `gisaxs`, `hydro`, `fmm`, `greenup-paper` and `greenup-scaling`, which are programs of this package."""

import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def path(name="greenup"):
    """The file of a command; ``$GREENUP_BIN`` (the program ``greenup``, or a folder with all) comes first."""
    named = os.environ.get("GREENUP_BIN")
    if named:
        folder = named if os.path.isdir(named) else os.path.dirname(named)
        if name == "greenup" and not os.path.isdir(named):
            return named
        return os.path.join(folder, name)
    return os.path.join(FOLDER, name)


def _become(name):
    file = os.path.join(FOLDER, name)
    sys.stdout.flush()
    os.execv(file, [name, *sys.argv[1:]])


def greenup():
    _become("greenup")


def gisaxs():
    _become("gisaxs")


def hydro():
    _become("hydro")


def fmm():
    _become("fmm")


def paper():
    _become("greenup-paper")


def scaling():
    _become("greenup-scaling")
