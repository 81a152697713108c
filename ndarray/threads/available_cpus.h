#ifndef COOPER_NDARRAY_THREADS_AVAILABLE_CPUS_H_
#define COOPER_NDARRAY_THREADS_AVAILABLE_CPUS_H_

// Determines how many processors this process may keep busy.

#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// Returns the number of processors in the process's affinity mask, or the quota of its control
// groups in processors, rounded up, if that is smaller. At least 1. Reads both at every call.
int AvailableCpus();

// Returns the smallest CPU quota, in processors, of the groups that `membership` names and of their
// parents; 0 if none has a quota. `membership` is the text of /proc/self/cgroup; `root` is where
// the groups are mounted, /sys/fs/cgroup. Reads both versions of control groups: cpu.max, and
// cpu.cfs_quota_us with cpu.cfs_period_us.
double CpuQuota(const std::string& root, absl::string_view membership);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_AVAILABLE_CPUS_H_
