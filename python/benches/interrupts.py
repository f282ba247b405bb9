"""Ctrl-C at random moments: how programs that use the package end.

    python3 python/benches/interrupts.py
"""

import collections
import random
import signal
import subprocess
import sys
import time

PROGRAM = r"""
import greenup
print("ready", flush=True)
text = "[parameters]\nx = '0 : 300'\ny = '0 : 300'\n[hard]\nhalf = 'x + y < 500'\n"
while True:
    space = greenup.Space(text)
    space.sample(2000, 1)
    space.funnel(0.05)
    greenup.tune(space, lambda p: p["x"] + p["y"], trials=40, strategy="gp")
    with greenup.measure():
        pass
    greenup.measure(lambda: None, window=0.02, warmup=0)
    greenup.Machine("h200").predict({"f64": 1e12})
"""


def main(runs=25):
    ends = collections.Counter()
    for _ in range(runs):
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        program.stdout.readline()
        time.sleep(1.5 * random.random())
        start = time.monotonic()
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=30)
        slow = time.monotonic() - start > 1
        ends[program.returncode, said.strip().splitlines()[-1], "slow" if slow else "within 1 s"] += 1
    for (code, last, speed), n in ends.items():
        print(f"{n} of {runs}: exit {code}, {last!r}, {speed}")


if __name__ == "__main__":
    main()
