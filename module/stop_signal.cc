#include "module/stop_signal.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has sigaction there

#include <atomic>

namespace cooper {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// What a signal handler may touch.
volatile sig_atomic_t received_signal = 0;
struct sigaction before[2];
std::atomic<bool> in_use = false;

void OnSignal(int number) {
  received_signal = number;
  // The next one does what it did before.
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before[i], nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  if (in_use.exchange(true)) return;
  installed_ = true;
  received_signal = 0;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // Reads and writes that the signal interrupts go on.
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, &before[i]);
}

StopSignal::~StopSignal() {
  if (!installed_) return;
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before[i], nullptr);
  in_use = false;
}

int StopSignal::received() const { return received_signal; }

}  // namespace cooper
