"""Kernel Tuner's tuning of strategies' options, which this package does not have."""

from .observers.absent import refusal

tune_hyper_params = refusal(
    "tune_hyper_params",
    "the options of Kernel Tuner's strategies do not steer Greenup's, which search in their place. `greenup replay SWEEP --strategy "
    "A,B --seeds 50` compares strategies on recorded sweeps",
)
