#ifndef COOPER_NDARRAY_THREADS_PROFILE_REPORT_H_
#define COOPER_NDARRAY_THREADS_PROFILE_REPORT_H_

// Formats the events of profiler.h as a trace file and as a table of operators.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/threads/profiler.h"

namespace cooper {

// Writes the events as a Chrome trace (https://ui.perfetto.dev, chrome://tracing): a JSON object of
// phase X per event with its name, category, start and duration in microseconds and thread, and the
// node and flops in `args`. `process` distinguishes the traces of several processes. Replaces the
// file atomically (atomic_file.h). Errors are those of AtomicFile.
absl::Status WriteChromeTrace(const Profile& profile, const std::string& path, int process = 0);

// The calls of one operator: their number, their total time in nanoseconds, and the FLOPs of their
// products.
struct OperatorTime {
  std::string name;
  int64_t calls = 0;
  int64_t ns = 0;
  int64_t flops = 0;
};

// Returns the totals by operator, forward and backward together, the longest time first.
std::vector<OperatorTime> OperatorTimes(const Profile& profile);

// Formats the ten operators with the longest time: calls, time, share of the time of all operators,
// GFLOP/s of their products, and that rate as a share of `limit`, the FLOP/s that products can
// reach on an operator's threads (gemm_rate.h); then the other operators together, and each part of
// a step as a share of the whole time.
std::string ProfileTable(const Profile& profile, double limit);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PROFILE_REPORT_H_
