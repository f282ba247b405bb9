"""Questions of the processes that the tuner starts, which this process answers: two pipes, a line each way."""

import os
import select
import threading

import numpy as np

from ..arguments import name_of

_SCRIPT = """#!/bin/sh
# Names the folder of the outputs and the config, and waits for the word on them.
printf 'output\\037%s\\037%s\\n' "$1" "$2" > {asked} && read -r word < {told} && [ "$word" = right ]
"""
#: Stands between the words of a question.
SEPARATOR = "\x1f"
#: The reply after which nothing more is asked, as a function raised.
STOP = "stop"


class Exchange:
    """Answers questions: ``answer(words)`` returns the reply to a list of words. One question is open at a time."""

    def __init__(self, folder, answer):
        self._answer = answer
        #: The exception that ``answer`` raised.
        self.raised = None
        self.asked, self.told = folder / "asked.fifo", folder / "told.fifo"
        os.mkfifo(self.asked, 0o600)
        os.mkfifo(self.told, 0o600)
        self._script = folder / "check.sh"
        self._script.write_text(_SCRIPT.format(asked=_quoted(self.asked), told=_quoted(self.told)), encoding="utf-8")
        self._script.chmod(0o700)
        self._ended = False
        # Opened for both, so that opening waits for nobody.
        self._in = os.open(self.asked, os.O_RDWR | os.O_NONBLOCK)
        self._out = os.open(self.told, os.O_RDWR | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def command(self, key=None):
        """The command that asks about outputs; ``key`` is the parameter that numbers the configs."""
        return f"{_quoted(self._script)} {{outputs}}" + ("" if key is None else f" {{{key}}}")

    def _serve(self):
        text = b""
        while not self._ended:
            if not select.select([self._in], [], [], 0.1)[0]:
                continue
            text += os.read(self._in, 65536)
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                os.write(self._out, f"{self._reply(line.decode())}\n".encode())

    def _reply(self, line):
        if self.raised is not None:
            return STOP
        try:
            return self._answer(line.split(SEPARATOR))
        except BaseException as e:  # noqa: BLE001 - raised again where the tuner's end is awaited
            self.raised = e
            return STOP

    def close(self):
        """Ends the thread."""
        self._ended = True
        self._thread.join(timeout=5)
        os.close(self._in)
        os.close(self._out)


def outputs_in(folder, arguments, wanted):
    """The arrays that a kernel wrote, by the number of their argument."""

    def array(i):
        like = arguments[i]
        if like.size == 0:
            return like.copy()
        return np.fromfile(os.path.join(folder, f"{name_of(i)}.bin"), dtype=like.dtype).reshape(like.shape)

    return {i: array(i) for i in wanted}


def _quoted(path):
    return "'" + str(path).replace("'", "'\\''") + "'"
