"""Fortran: names of functions in compiled files, and folders of their modules."""

import os
import re

_COMPILERS = ("gfortran", "nvfortran", "ftn", "ifort")
#: Compiles with the modules' files in a folder of its own: several configs are compiled at once.
_SCRIPT = """#!/bin/sh
folder=$(mktemp -d) || exit 1
{compiler} {option} "$folder" "$@"
code=$?
rm -rf "$folder"
exit $code
"""


def is_fortran(compiler):
    """Whether a compiler is one for Fortran."""
    return os.path.basename(str(compiler or "")) in _COMPILERS


def symbol(code, name, compiler):
    """The name that a compiler gives a function: that of ``bind(c)``, or with its module."""
    code = re.sub(r"&\s*\n\s*&?", " ", code)
    found = re.search(rf"\b(?:function|subroutine)\s+{re.escape(name)}\b[^\n]*", code, re.IGNORECASE)
    if found and (bound := re.search(r"\bbind\s*\(\s*c\s*(?:,\s*name\s*=\s*[\"']([^\"']+)[\"'])?\s*\)", found[0], re.IGNORECASE)):
        return bound[1] or name.lower()
    name, before = name.lower(), code[: found.start()] if found else code
    begun = re.findall(r"^\s*(end\s+)?module\s+(?!procedure\b)(\w+)", before, re.IGNORECASE | re.MULTILINE)
    module = begun[-1][1].lower() if begun and not begun[-1][0] else None
    if module is None:
        return f"{name}_"
    return {"gfortran": f"__{module}_MOD_{name}", "nvfortran": f"{module}_{name}_"}.get(
        os.path.basename(compiler), f"{module}_mp_{name}_"
    )


def script(compiler):
    """A shell script that compiles as ``compiler`` does."""
    return _SCRIPT.format(compiler=compiler, option="-J" if os.path.basename(compiler) == "gfortran" else "-module")
