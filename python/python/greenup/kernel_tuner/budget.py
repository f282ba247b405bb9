"""Budgets of a search, and the options that strategies see."""

import time
from datetime import timedelta


class StopCriterionReached(Exception):
    """The budget is used up."""


class Options(dict):
    """A dictionary whose keys are also attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            # As in Kernel Tuner, whose options raise KeyError; names of Python's own protocols must not.
            if name.startswith("_"):
                raise AttributeError(name) from None
            raise

    def __setattr__(self, name, value):
        self[name] = value


class TuningBudget:
    """Evaluations and time (s) that a search may use; in simulation the recorded time of configs counts."""

    def __init__(self, time_limit=None, max_fevals=None):
        if isinstance(time_limit, (int, float)):
            time_limit = timedelta(seconds=time_limit)
        if max_fevals is not None and max_fevals <= 0:
            raise ValueError("max_fevals must be greater than zero")
        if time_limit is not None and time_limit <= timedelta(0):
            raise ValueError("time_limit must be greater than zero")
        self.time_limit = time_limit
        self.max_fevals = max_fevals
        self.num_fevals = 0
        self.time_spent_extra = timedelta(0)
        self._start = time.perf_counter()

    def add_evaluations(self, n=1):
        """Counts evaluations."""
        self.num_fevals += n

    def add_time(self, seconds=0, milliseconds=0):
        """Counts time that did not pass here."""
        self.time_spent_extra += timedelta(seconds=seconds, milliseconds=milliseconds)

    def get_time_spent(self):
        """Time since the start, with the simulated time."""
        return timedelta(seconds=time.perf_counter() - self._start) + self.time_spent_extra

    def get_time_remaining(self):
        """Time that is left."""
        if self.time_limit is None:
            return timedelta.max
        return max(self.time_limit - self.get_time_spent(), timedelta(0))

    def get_evaluations_spent(self):
        """Evaluations until now."""
        return self.num_fevals

    def get_evaluations_remaining(self):
        """Evaluations that are left."""
        return float("inf") if self.max_fevals is None else max(self.max_fevals - self.num_fevals, 0)

    def is_done_by_time(self):
        """Whether no time is left."""
        return self.time_limit is not None and self.get_time_spent() > self.time_limit

    def _why_done(self):
        if self.max_fevals is not None and self.num_fevals >= self.max_fevals:
            return f"max_fevals ({self.max_fevals}) reached"
        return "time limit exceeded" if self.is_done_by_time() else None

    def is_done(self):
        """Whether nothing is left."""
        return self._why_done() is not None

    def raise_exception_if_done(self):
        """Raises StopCriterionReached if nothing is left."""
        why = self._why_done()
        if why is not None:
            raise StopCriterionReached(why)

    def get_fraction_consumed(self):
        """The part that is used: 0 to 1, the larger one of evaluations and time."""
        parts = [0.0]
        if self.max_fevals is not None:
            parts.append(self.num_fevals / self.max_fevals)
        if self.time_limit is not None:
            parts.append(self.get_time_spent() / self.time_limit)
        return min(1.0, max(parts))
