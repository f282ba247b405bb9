"""The temporary folder of a search, and the end of the tuners in it."""

import contextlib
import tempfile
import threading
from pathlib import Path

#: Threads that wait for the ends of tuners.
_ENDING = []


class Workplace:
    """A folder that is removed when the tuners in it have ended.

    ``awaited``: whether the caller waits for that. A GPU's context takes a while to close, and what follows need not wait for it; the
    interpreter does before it ends.
    """

    def __init__(self, *, awaited):
        self._folder = tempfile.TemporaryDirectory(prefix="greenup-kernel-tuner-")
        self.path = Path(self._folder.name)
        self._awaited = awaited
        #: What ends with the workplace, the last one first.
        self._ends = contextlib.ExitStack()

    def end(self, closes, *, failed):
        """Calls ``closes`` in order, all of them: now, or later where nobody waits for them and nothing failed."""
        ends = contextlib.ExitStack()
        for close in reversed(closes):
            ends.callback(close)
        if self._awaited or failed:
            ends.close()
        else:
            self._ends.push(ends)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self._awaited or kind is not None:
            self._leave()
            return
        _ENDING[:] = [thread for thread in _ENDING if thread.is_alive()]
        _ENDING.append(threading.Thread(target=self._leave, name="greenup-end"))
        _ENDING[-1].start()

    def _leave(self):
        try:
            self._ends.close()
        finally:
            self._folder.cleanup()


def wait_for_ends():
    """Waits until all tuners of before have ended: their arrays may fill the memory of a GPU."""
    while _ENDING:
        _ENDING.pop().join()
