#include "tests/cuda_emulator/host/fiber.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef ABSL_HAVE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#ifndef __x86_64__
#error "the host shim switches stacks on x86-64 only"
#endif

// void cooper_switch_stack(void** left, void* entered): like swapcontext, but without system calls
// and without AddressSanitizer's interceptor, which would clear the red zones of a stack at each
// call.
asm(R"(
  .text
  .type cooper_switch_stack, @function
cooper_switch_stack:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
  .size cooper_switch_stack, .-cooper_switch_stack

  .type cooper_begin_fiber, @function
cooper_begin_fiber:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  movq %r13, %rsi
  movq %r14, %rdx
  callq *%r15
  ud2
  .cfi_endproc
  .size cooper_begin_fiber, .-cooper_begin_fiber
)");

extern "C" void cooper_switch_stack(void** left, void* entered);
extern "C" void cooper_begin_fiber();

namespace cooper::cuda_emulator {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStackBytes = 256 << 10;  // frames are larger under AddressSanitizer

Fiber* g_left = nullptr;  // the fiber that the last switch left

ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void Arrive([[maybe_unused]] Fiber& fiber) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  // The bounds of a thread's own stack are known only after the switch.
  __sanitizer_finish_switch_fiber(fiber.asan_stack, &g_left->stack, &g_left->stack_bytes);
#endif
}

ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void Begin(Fiber* fiber, void (*entry)(void*), void* argument) {
  Arrive(*fiber);
  entry(argument);
}

}  // namespace

Fiber RunningFiber() {
  Fiber fiber;
#ifdef ABSL_HAVE_THREAD_SANITIZER
  fiber.tsan_fiber = __tsan_get_current_fiber();
#endif
  return fiber;
}

ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void StartFiber(Fiber& fiber, void (*entry)(void*),
                                                  void* argument) {
  // The lowest page is inaccessible, so that a stack overflow ends there.
  void* room = mmap(nullptr, kPage + kStackBytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* stack = static_cast<char*>(room) + kPage;
  if (room == MAP_FAILED || mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE) != 0) {
    std::perror("cuda emulator: no stack for the thread of a block");
    std::abort();
  }
  fiber.stack = stack;
  fiber.stack_bytes = kStackBytes;
#ifdef ABSL_HAVE_THREAD_SANITIZER
  fiber.tsan_fiber = __tsan_create_fiber(0);
#endif
  // The stack as cooper_switch_stack leaves it: r15 to r12, rbx, rbp, and the return address. The
  // following words align the stack and mark its end for debuggers.
  const uint64_t words[] = {reinterpret_cast<uint64_t>(Begin),
                            reinterpret_cast<uint64_t>(argument),
                            reinterpret_cast<uint64_t>(entry),
                            reinterpret_cast<uint64_t>(&fiber),
                            0,
                            0,
                            reinterpret_cast<uint64_t>(cooper_begin_fiber),
                            0,
                            0};
  auto* top = reinterpret_cast<uint64_t*>(stack + kStackBytes) - std::size(words);
  for (size_t i = 0; i < std::size(words); ++i) top[i] = words[i];
  fiber.stack_pointer = top;
}

ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void SwitchFiber(Fiber& from, Fiber& to) {
  g_left = &from;
#ifdef ABSL_HAVE_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.tsan_fiber, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from.asan_stack, to.stack, to.stack_bytes);
#endif
  cooper_switch_stack(&from.stack_pointer, to.stack_pointer);
  Arrive(from);
}

ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void AcquireToken([[maybe_unused]] void* token) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
  __tsan_acquire(token);
#endif
}

ABSL_ATTRIBUTE_NO_SANITIZE_THREAD void ReleaseToken([[maybe_unused]] void* token) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
  __tsan_release(token);
#endif
}

}  // namespace cooper::cuda_emulator
