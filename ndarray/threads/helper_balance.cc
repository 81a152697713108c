#include "ndarray/threads/helper_balance.h"

#include <chrono>

namespace cooper::internal_parallel {

std::atomic<int>& ShareAll::Count() {
  static std::atomic<int> count = 0;
  return count;
}

HelperBalance& HelperBalance::OfThisThread() {
  thread_local HelperBalance balance;
  return balance;
}

int64_t HelperBalance::Now() {
  const std::chrono::nanoseconds since_epoch = std::chrono::steady_clock::now().time_since_epoch();
  return since_epoch.count();
}

}  // namespace cooper::internal_parallel
