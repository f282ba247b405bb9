"""Limits of memory in tests."""

import subprocess
import sys

PROGRAM = """
import resource
import numpy as np
from greenup import fmm, gisaxs

{setup}
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + {mib} * 2**20, resource.RLIM_INFINITY))
try:
    {work}
except MemoryError as e:
    print("MemoryError:", e)
"""


def with_memory(mib, setup, work):
    """What a program printed that does some work with so much more memory than after its set-up; it must not be killed."""
    program = PROGRAM.format(setup=setup, work=work, mib=mib)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout
