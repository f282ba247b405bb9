"""Base classes of Kernel Tuner's observers, so that scripts that define or name some can be run. They are not called."""


class BenchmarkObserver:
    """An observer; tuning ignores it with a warning."""

    def register_device(self, dev):
        """Not called."""

    def register_configuration(self, params):
        """Not called."""

    def before_start(self):
        """Not called."""

    def after_start(self):
        """Not called."""

    def during(self):
        """Not called."""

    def after_finish(self):
        """Not called."""

    def get_results(self):
        """Not called."""
        return {}


class IterationObserver(BenchmarkObserver):
    """As BenchmarkObserver."""


class ContinuousObserver(BenchmarkObserver):
    """As BenchmarkObserver."""


class PrologueObserver(BenchmarkObserver):
    """As BenchmarkObserver."""


class OutputObserver(BenchmarkObserver):
    """As BenchmarkObserver."""

    def process_output(self, answer, output):
        """Not called."""
