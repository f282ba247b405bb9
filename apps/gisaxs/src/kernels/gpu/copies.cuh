// Asynchronous copies to shared memory, on a GPU and on the host's fibers.
#pragma once

#ifdef GREENUP_SHIM
inline void copy_16(void *to, const void *from) { greenup_copy(to, from, 16, 16); }
inline void copies_end() { greenup_commit(); }
template <int open> void copies_wait() { greenup_wait_but(open); }
#else
__device__ __forceinline__ void copy_16(void *to, const void *from) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
}
// Ends a group of copies.
__device__ __forceinline__ void copies_end() { asm volatile("cp.async.commit_group;"); }
// Waits until at most so many groups are open.
template <int open> __device__ __forceinline__ void copies_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(open));
}
#endif
