#include "ndarray/parallel.h"

#include <algorithm>
#include <thread>

// Not defined under --config=tsan, which does not understand libgomp's barriers: there loops run on
// one thread.
#ifdef _OPENMP
#include <omp.h>
#endif

namespace cooper {

#ifdef _OPENMP

int NumThreads() { return omp_get_max_threads(); }

void SetNumThreads(int threads) {
  if (threads < 1) threads = std::max(1u, std::thread::hardware_concurrency());
  omp_set_num_threads(threads);
}

void ParallelFor(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (n <= 0) return;
  const int64_t parts =
      std::min<int64_t>(omp_in_parallel() ? 1 : NumThreads(), n / std::max<int64_t>(grain, 1));
  if (parts <= 1) {
    fn(0, n);
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
  for (int64_t part = 0; part < parts; ++part) {
    fn(n * part / parts, n * (part + 1) / parts);
  }
}

#else

int NumThreads() { return 1; }
void SetNumThreads(int) {}
void ParallelFor(int64_t n, int64_t, absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (n > 0) fn(0, n);
}

#endif

}  // namespace cooper
