#ifndef COOPER_NDARRAY_THREADS_PROFILE_REPORT_H_
#define COOPER_NDARRAY_THREADS_PROFILE_REPORT_H_

// What profiler.h has recorded, for people: a trace to look at and a table of operators.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/threads/profiler.h"

namespace cooper {

// The events as a Chrome trace (https://ui.perfetto.dev, chrome://tracing): JSON with an object of
// phase X for each, its name, category, start and duration in microseconds and thread, and in
// `args` the node and the flops. `process` tells the traces of several processes apart. The file is
// replaced as a whole (atomic_file.h).
absl::Status WriteChromeTrace(const Profile& profile, const std::string& path, int process = 0);

struct OperatorTime {
  std::string name;
  int64_t calls = 0;
  int64_t ns = 0;
  int64_t flops = 0;
};

// By operator, the longest time first; forward and backward together.
std::vector<OperatorTime> OperatorTimes(const Profile& profile);

// The ten operators that took longest: calls, time, share of all operators' time, GFLOP/s of the
// products in them, and these as a share of `limit`, the FLOP/s that products can reach on the
// threads of an operator (gemm_rate.h); then what the others took, and what the parts of a step did
// of the whole time.
std::string ProfileTable(const Profile& profile, double limit);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PROFILE_REPORT_H_
