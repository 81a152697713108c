#include "module/fit/stop_signal.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has sigaction there

#include <atomic>

namespace cooper {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// The state that the signal handler uses.
volatile sig_atomic_t received_signal = 0;
struct sigaction before[2];
std::atomic<bool> in_use = false;

void OnSignal(int number) {
  received_signal = number;
  // The next signal gets its previous handling.
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before[i], nullptr);
}

// oneDNN's sgemm for AVX-512 (2.6) keeps its stack in a buffer on the heap. A handler's frame on
// that stack would overwrite the memory before the buffer, so the handler gets a stack of its own.
// One stack per process is enough, because signals come to the main thread.
alignas(16) char handler_stack[1 << 16];

void UseHandlerStack() {
  stack_t present = {};
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  const stack_t own = {.ss_sp = handler_stack, .ss_flags = 0, .ss_size = sizeof(handler_stack)};
  sigaltstack(&own, nullptr);
}

void LeaveHandlerStack() {
  stack_t present = {};
  if (sigaltstack(nullptr, &present) != 0 || present.ss_sp != handler_stack) return;
  const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  if (in_use.exchange(true)) return;
  installed_ = true;
  received_signal = 0;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // Reads and writes that the signal interrupts are restarted.
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  UseHandlerStack();
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, &before[i]);
}

StopSignal::~StopSignal() {
  if (!installed_) return;
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before[i], nullptr);
  LeaveHandlerStack();
  in_use = false;
}

int StopSignal::received() const { return received_signal; }

}  // namespace cooper
