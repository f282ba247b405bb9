"""Kernel Tuner's package `energy`: its functions set clocks, and say what to use instead."""
