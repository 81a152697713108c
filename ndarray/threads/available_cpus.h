#ifndef COOPER_NDARRAY_THREADS_AVAILABLE_CPUS_H_
#define COOPER_NDARRAY_THREADS_AVAILABLE_CPUS_H_

// How many processors this process may keep busy.

#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// Those of the process's affinity mask, or as many as its control groups' quota is worth, rounded
// up, if that is fewer. At least 1. Read anew with every call.
int AvailableCpus();

// What the CPU quotas of the groups that `membership` names are worth in processors: the smallest
// of each group's and its parents', 0 where none has one. `membership` is the text of
// /proc/self/cgroup; `root` is where the groups are mounted, /sys/fs/cgroup. Both versions of
// control groups are looked at: cpu.max, and cpu.cfs_quota_us with cpu.cfs_period_us.
double CpuQuota(const std::string& root, absl::string_view membership);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_AVAILABLE_CPUS_H_
