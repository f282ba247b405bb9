"""The file that ``log`` asks for."""

import logging
import re
from datetime import datetime, timezone

LOG = logging.getLogger("greenup.kernel_tuner")
_open = []


def start_log(level, kernel_name):
    """Writes what is logged from now on to ``KERNELTIME.log`` in the current folder, from a level on; ends the file before it."""
    for handler in _open:
        logging.getLogger().removeHandler(handler)
        handler.close()
    _open.clear()
    if not level:
        return
    at = datetime.now(timezone.utc).strftime("%Y%m%d-%H:%M:%S")
    handler = logging.FileHandler(f"{re.sub(r'[^0-9A-Za-z_.-]', '_', kernel_name)}{at}.log", encoding="utf-8")
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    # The root's, as in Kernel Tuner: what the script logs itself is in the file too.
    logging.getLogger().addHandler(handler)
    LOG.setLevel(handler.level)
    _open.append(handler)
