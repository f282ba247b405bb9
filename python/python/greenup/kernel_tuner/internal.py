"""Modules of Kernel Tuner's inside that scripts import: they can be imported here, and their names say that they are not here."""

import importlib.abc
import importlib.util
import sys
import types

from .observers.absent import named

_PACKAGE = __package__
_MODULES = ("backends", "core", "runners", "schema", "utils.nvcuda")
_REASON = "is of the inside of Kernel Tuner, which this package does not share: use tune_kernel, run_kernel or kernelbuilder.PythonKernel"


class _Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return named(name, f"{self.__name__.removeprefix(_PACKAGE + '.')} {_REASON}")


class Inside(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds these modules."""

    def find_spec(self, name, path=None, target=None):  # noqa: ARG002 - Python's signature
        inner = name.removeprefix(f"{_PACKAGE}.")
        if inner == name or not any(inner == m or inner.startswith(f"{m}.") for m in _MODULES):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


def register():
    """Makes them known to Python's import."""
    if not any(isinstance(f, Inside) for f in sys.meta_path):
        sys.meta_path.append(Inside())
