"""Formats of the auto-tuning community's files: T1 (input) and T4 (results and metadata)."""
