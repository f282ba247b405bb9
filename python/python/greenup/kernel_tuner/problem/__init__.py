"""A kernel as a problem of the tuner: its code, launch, device and files."""
