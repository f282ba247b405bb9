"""Names of devices before anything runs on them."""

import ctypes
import platform


def device_name(on_gpu, ordinal=0):
    """Name of a GPU by the driver, or of the processor as Kernel Tuner's C backend names it."""
    return _gpu(int(ordinal)) if on_gpu else platform.processor()


def processor():
    """The processor's model, where the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _gpu(ordinal):
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise RuntimeError("no CUDA driver: libcuda.so.1 is not found. `greenup doctor` shows what is missing") from None
    name = ctypes.create_string_buffer(256)
    device = ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGet(ctypes.byref(device), ordinal) != 0:
        raise RuntimeError(f"there is no GPU {ordinal}. `greenup doctor` shows what is there")
    cuda.cuDeviceGetName(name, 256, device)
    return name.value.decode()
