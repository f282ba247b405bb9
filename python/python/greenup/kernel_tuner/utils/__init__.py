"""Kernel Tuner's package `utils`: functions for code with directives."""
