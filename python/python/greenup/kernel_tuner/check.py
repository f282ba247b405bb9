"""Checks of kernels' results by functions of Python: the tuner's check command asks this process through two pipes."""

import os
import select
import threading

import numpy as np

from .arguments import name_of

_SCRIPT = """#!/bin/sh
# Names the folder of the outputs, and waits for the word on them.
echo "$1" > {asked} && read -r word < {told} && [ "$word" = right ]
"""


class Checker:
    """Answers the check command: ``look(arrays)`` gets the arrays by the number of their argument, and returns whether they are right."""

    def __init__(self, folder, arguments, outputs, look):
        self.arguments = arguments
        self.outputs = outputs
        self.look = look
        #: The exception that ``look`` raised.
        self.raised = None
        self._asked, self._told = folder / "asked.fifo", folder / "told.fifo"
        os.mkfifo(self._asked, 0o600)
        os.mkfifo(self._told, 0o600)
        script = folder / "check.sh"
        script.write_text(_SCRIPT.format(asked=_quoted(self._asked), told=_quoted(self._told)), encoding="utf-8")
        script.chmod(0o700)
        self.command = f"{_quoted(script)} {{outputs}}"
        self._ended = False
        # Opened for both, so that opening waits for nobody.
        self._in = os.open(self._asked, os.O_RDWR | os.O_NONBLOCK)
        self._out = os.open(self._told, os.O_RDWR | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        text = b""
        while not self._ended:
            if not select.select([self._in], [], [], 0.1)[0]:
                continue
            text += os.read(self._in, 65536)
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                os.write(self._out, b"right\n" if self._right(line.decode()) else b"wrong\n")

    def _right(self, folder):
        try:
            arrays = {i: self._array(folder, i) for i in self.outputs}
            return bool(self.look(arrays))
        except BaseException as e:  # noqa: BLE001 - raised again where the tuner's end is awaited
            self.raised = e
            return False

    def _array(self, folder, i):
        like = self.arguments[i]
        return np.fromfile(os.path.join(folder, f"{name_of(i)}.bin"), dtype=like.dtype).reshape(like.shape)

    def close(self):
        """Ends the thread."""
        self._ended = True
        self._thread.join(timeout=5)
        os.close(self._in)
        os.close(self._out)


def _quoted(path):
    return "'" + str(path).replace("'", "'\\''") + "'"
