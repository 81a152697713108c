#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_FIBER_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_FIBER_H_

// Stacks that a thread of the host leaves and enters again, and what sanitizers have to know of
// them. Whoever uses them holds the ApiLock: one fiber runs at a time.

#include <cstddef>

#include "absl/base/config.h"

namespace cooper::cuda_emulator {

// ThreadSanitizer takes what one fiber does as ordered: threads of a kernel have a fiber each then.
#ifdef ABSL_HAVE_THREAD_SANITIZER
inline constexpr bool kOneFiberPerThread = true;
#else
inline constexpr bool kOneFiberPerThread = false;
#endif

struct Fiber {
  void* stack_pointer = nullptr;  // while another one runs
  const void* stack = nullptr;    // its lowest address
  size_t stack_bytes = 0;
  void* asan_stack = nullptr;  // AddressSanitizer's own, while another one runs
  void* tsan_fiber = nullptr;
};

// The fiber that the caller runs on: a thread's own stack.
Fiber RunningFiber();

// Gives `fiber` a stack, on which `entry(argument)` begins at the first switch. It may not return.
void StartFiber(Fiber& fiber, void (*entry)(void*), void* argument);

// Goes from `from`, which runs, to `to`; returns when something switches back. To ThreadSanitizer
// this orders nothing.
void SwitchFiber(Fiber& from, Fiber& to);

// What ThreadSanitizer orders: what came before a release of `token` comes before what follows an
// acquire. Nothing otherwise.
void AcquireToken(void* token);
void ReleaseToken(void* token);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_FIBER_H_
