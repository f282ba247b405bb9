"""Ctrl-C that waits for a moment at which nothing is lost."""

import signal
import threading


class Deferred:
    """While entered, Ctrl-C waits for `check`, or for the end; a second one does not wait.

    Only the main thread is ever interrupted; in another one this does nothing.
    """

    def __init__(self):
        self._previous = None
        self._waiting = None
        self._interrupted = False

    def __enter__(self):
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._previous = signal.signal(signal.SIGINT, self._come)
        return self

    def __exit__(self, *_):
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        self.check()

    def _come(self, *signal_and_frame):
        if self._interrupted:
            self._previous(*signal_and_frame)
        self._interrupted = True
        self._waiting = signal_and_frame

    def check(self):
        """Raises KeyboardInterrupt, or does what the caller's handler does, if Ctrl-C came since the last call."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._previous(*waiting)
