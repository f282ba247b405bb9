"""Measurements: the tuner as a process, what it asks and finds, and results of them."""
