"""What devices are, before anything runs on them: by the driver's libraries, and by the compilers' own words."""

import ctypes
import platform
import shutil
import subprocess
import threading
import uuid

#: Attributes of a CUDA device by the numbers of `cuDeviceGetAttribute`.
_ATTRIBUTES = {
    "max_threads_per_block": 1, "shared_memory_per_block": 8, "warp_size": 10, "multiprocessor_count": 16,
    "clock_rate_khz": 13, "memory_clock_rate_khz": 36, "memory_bus_width": 37, "l2_cache_size": 38,
    "registers_per_block": 12, "compute_capability_major": 75, "compute_capability_minor": 76,
}  # fmt: skip
#: Facts of an OpenCL device and of its platform by their numbers.
_CL_DEVICE = {"device_name": 0x102B, "driver_version": 0x102D, "device_version": 0x102F, "opencl_c_version": 0x103D}
_CL_PLATFORM = {"platform_version": 0x0901, "platform_name": 0x0902}
_CL_MAX_WORK_GROUP_SIZE = 0x1004


class Facts:
    """Facts of the device that runs a kernel. A CUDA driver takes a while to start: its facts are asked for in the background."""

    def __init__(self, kernel, ordinal):
        self._env = self._error = self._asking = None
        if kernel.source.language == "CUDA":
            self._asking = threading.Thread(target=self._ask, args=(kernel, ordinal), name="greenup-facts", daemon=True)
            self._asking.start()
        else:
            self._env = _environment(kernel, ordinal)
            kernel.max_threads = self._env.get("max_work_group_size", kernel.max_threads)

    def _ask(self, kernel, ordinal):
        try:
            self._env = _environment(kernel, ordinal)
        except Exception as e:  # noqa: BLE001 - raised where the facts are needed
            self._error = e

    @property
    def env(self):
        """What Kernel Tuner's results say of the device.

        Raises RuntimeError if it is not there.
        """
        if self._asking is not None:
            self._asking.join()
        if self._error is not None:
            raise self._error
        return self._env

    @property
    def name(self):
        """Its name, or the processor's."""
        return self.env["device_name"] or processor()


def _environment(kernel, ordinal):
    if kernel.source.language == "OPENCL":
        return _opencl(kernel.platform, int(ordinal))
    if kernel.on_gpu:
        return _gpu(int(ordinal))
    compiler = kernel.compiler or "g++"
    env = {"device_name": platform.processor(), "CC Version": _version(compiler), "compiler": compiler}
    if shutil.which("nvcc"):
        env["NVCC Version"] = _version("nvcc").splitlines()[-1]
    return env


def processor():
    """The processor's model, where the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _version(compiler):
    """The first lines of what a compiler says of itself; empty if it cannot be started."""
    try:
        run = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout.strip()


def _library(name, driver):
    try:
        return ctypes.CDLL(name)
    except OSError:
        raise RuntimeError(f"no {driver}: {name} is not found. `greenup doctor` shows what is missing") from None


def _gpu(ordinal):
    cuda = _library("libcuda.so.1", "CUDA driver")
    device = ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGet(ctypes.byref(device), ordinal) != 0:
        raise RuntimeError(f"there is no GPU {ordinal}. `greenup doctor` shows what is there")
    name, bus = ctypes.create_string_buffer(256), ctypes.create_string_buffer(64)
    own, version, value = ctypes.create_string_buffer(16), ctypes.c_int(), ctypes.c_int()
    cuda.cuDeviceGetName(name, 256, device)
    cuda.cuDeviceGetPCIBusId(bus, 64, device)
    cuda.cuDeviceGetUuid(own, device)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    properties = {}
    for key, number in _ATTRIBUTES.items():
        if cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device) == 0:
            properties[key] = value.value
    return {
        "device_name": name.value.decode(),
        "uuid": str(uuid.UUID(bytes=own.raw)),
        "pci_bus_id": bus.value.decode(),
        "cuda_version": version.value,
        "compute_capability": f"{properties.get('compute_capability_major')}{properties.get('compute_capability_minor')}",
        "device_properties": properties,
    }


def _opencl(platform_number, ordinal):
    cl = _library("libOpenCL.so.1", "OpenCL")
    missing = RuntimeError(f"there is no OpenCL device {platform_number}.{ordinal}. `greenup doctor` lists them")
    platforms, count = (ctypes.c_void_p * 64)(), ctypes.c_uint()
    devices = (ctypes.c_void_p * 64)()
    if cl.clGetPlatformIDs(64, platforms, ctypes.byref(count)) != 0 or platform_number >= count.value:
        raise missing
    of = ctypes.c_void_p(platforms[platform_number])
    every = ctypes.c_uint64(0xFFFFFFFF)
    if cl.clGetDeviceIDs(of, every, 64, devices, ctypes.byref(count)) != 0 or ordinal >= count.value:
        raise missing
    device = ctypes.c_void_p(devices[ordinal])

    def text(ask, handle, number):
        out = ctypes.create_string_buffer(1024)
        return out.value.decode(errors="replace").strip() if ask(handle, number, 1024, out, None) == 0 else ""

    size = ctypes.c_size_t(1024)
    cl.clGetDeviceInfo(device, _CL_MAX_WORK_GROUP_SIZE, ctypes.sizeof(size), ctypes.byref(size), None)
    return {
        **{key: text(cl.clGetPlatformInfo, of, number) for key, number in _CL_PLATFORM.items()},
        **{key: text(cl.clGetDeviceInfo, device, number) for key, number in _CL_DEVICE.items()},
        "max_work_group_size": size.value,
    }
