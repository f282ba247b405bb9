"""Ctrl-C in tests."""

import os
import signal
import threading
import time

import pytest


def interrupted(work, after=0.3):
    """Interrupts `work` after some seconds; returns how long it took to raise KeyboardInterrupt, s."""
    sent = []

    def send():
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        work()
        thread.join()
        time.sleep(0.1)
        pytest.fail("the work ended before the signal")
    return time.perf_counter() - sent[0]
