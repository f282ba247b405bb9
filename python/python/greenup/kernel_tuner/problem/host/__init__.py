"""Kernels that run on the host: how they are called, and what compiles them."""
