"""Registers of compiled kernels."""

from .observer import BenchmarkObserver


class RegisterObserver(BenchmarkObserver):
    """Adds ``num_regs``, the registers of a thread as the compiler reports them: CUDA only."""

    def register_device(self, dev):
        """Refuses devices whose compilers do not report them."""
        if dev.lang != "CUDA":
            raise NotImplementedError(f"RegisterObserver: the number of registers is not known of {dev.lang_name} kernels, only of CUDA")
        super().register_device(dev)

    def get_results(self):
        return {"num_regs": self.dev.num_regs}
