"""Kernel Tuner's observers: objects of Python that look at each config while it is measured.

``run`` says where their functions are called; the modules of observers that need other hardware or libraries can be imported, and
their classes say at construction what to use instead.
"""

from . import absent
from .observer import BenchmarkObserver, ContinuousObserver, IterationObserver, OutputObserver, PrologueObserver

__all__ = ["BenchmarkObserver", "ContinuousObserver", "IterationObserver", "OutputObserver", "PrologueObserver"]

absent.register(__name__)
