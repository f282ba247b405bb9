"""The temporary folder of a search, and the end of the tuners in it."""

import tempfile
import threading
from pathlib import Path


class Workplace:
    """A folder that is removed when the tuners in it have ended.

    ``awaited``: whether the caller waits for that. A GPU's context takes a while to close, and what follows need not wait for it; the
    interpreter does before it ends.
    """

    def __init__(self, *, awaited):
        self._folder = tempfile.TemporaryDirectory(prefix="greenup-kernel-tuner-")
        self.path = Path(self._folder.name)
        self._awaited, self._runs = awaited, []

    def end(self, run):
        """Ends a tuner with the workplace."""
        self._runs.append(run)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self._awaited or kind is not None:
            self._leave()
        else:
            threading.Thread(target=self._leave, name="greenup-end").start()

    def _leave(self):
        try:
            for run in self._runs:
                run.close()
        finally:
            self._folder.cleanup()
