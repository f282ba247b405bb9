"""Optimizers that users write in Python, as strategies."""

from abc import ABC, abstractmethod

from ..budget import StopCriterionReached
from .common import CostFunc


class OptAlg(ABC):
    """An optimizer: called with a `CostFunc` to minimise and the `Searchspace`."""

    def __init__(self):
        #: Arguments of the `CostFunc`: ``scaling`` maps parameters to [0, 1], ``snap`` takes the nearest value.
        self.costfunc_kwargs = {"scaling": False, "snap": False}

    @abstractmethod
    def __call__(self, func, searchspace):
        """Searches until ``func.budget_spent_fraction`` is 1; returns the best parameters and their cost."""


class OptAlgWrapper:
    """An optimizer as the argument ``strategy`` of ``tune_kernel``."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def tune(self, searchspace, runner, tuning_options):
        """Runs the optimizer; returns the results of all configs it tried."""
        given = getattr(self.optimizer, "costfunc_kwargs", None) or {"scaling": False, "snap": False}
        func = CostFunc(searchspace, tuning_options, runner, **given)
        if func.scaling:
            # Sets the distance of two values, which snapping needs.
            func.get_bounds_x0_eps()
        try:
            self.optimizer(func, searchspace)
        except StopCriterionReached as e:
            if tuning_options.get("verbose"):
                print(e)
        return func.results
