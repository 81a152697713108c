#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_FIBER_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_FIBER_H_

// Stacks that a host thread switches between, with the notifications that sanitizers need. Callers
// hold the ApiLock: one fiber runs at a time.

#include <cstddef>

#include "absl/base/config.h"

namespace cooper::cuda_emulator {

// ThreadSanitizer treats the actions of one fiber as ordered, so under it each thread of a kernel
// has its own fiber.
#ifdef ABSL_HAVE_THREAD_SANITIZER
inline constexpr bool kOneFiberPerThread = true;
#else
inline constexpr bool kOneFiberPerThread = false;
#endif

// A stack and the state that sanitizers keep for it.
struct Fiber {
  void* stack_pointer = nullptr;  // valid while another fiber runs
  const void* stack = nullptr;    // its lowest address
  size_t stack_bytes = 0;
  void* asan_stack = nullptr;  // AddressSanitizer's fake stack, valid while another fiber runs
  void* tsan_fiber = nullptr;
};

// Returns the fiber that the caller runs on: a thread's own stack.
Fiber RunningFiber();

// Gives `fiber` a stack, on which `entry(argument)` starts at the first switch. `entry` must not
// return.
void StartFiber(Fiber& fiber, void (*entry)(void*), void* argument);

// Switches from `from`, the running fiber, to `to`; returns when another fiber switches back.
// ThreadSanitizer derives no order from it.
void SwitchFiber(Fiber& from, Fiber& to);

// Tells ThreadSanitizer that everything before a release of `token` happens before everything after
// a later acquire. Does nothing without ThreadSanitizer.
void AcquireToken(void* token);
void ReleaseToken(void* token);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_FIBER_H_
