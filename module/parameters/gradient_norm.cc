#include "module/parameters/gradient_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "module/parameters/device_reduction.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Squares are summed in blocks of this size, so that the sum does not depend on the number of
// threads.
constexpr int64_t kBlock = 16384;

template <typename T>
double SquaresOf(const T* values, int64_t n) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double v = static_cast<double>(static_cast<ComputeType<T>>(values[i + lane]));
      lanes[lane] += v * v;
    }
  }
  for (; i < n; ++i) {
    const double v = static_cast<double>(static_cast<ComputeType<T>>(values[i]));
    lanes[0] += v * v;
  }
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

// Returns the sum of squares of each array if all are on one GPU; empty otherwise.
absl::StatusOr<std::vector<float>> SquaresOnDevice(absl::Span<const NDArray> arrays) {
  const auto is_elsewhere = [&](const NDArray& array) {
    return array.context().is_cpu() || array.context() != arrays[0].context();
  };
  if (arrays.empty() || std::any_of(arrays.begin(), arrays.end(), is_elsewhere)) {
    return std::vector<float>();
  }
  return ReduceOnDevice("multi_sum_sq", {{"num_arrays", absl::StrCat(arrays.size())}}, arrays,
                        static_cast<int64_t>(arrays.size()));
}

}  // namespace

absl::StatusOr<double> GlobalNorm(absl::Span<const NDArray> arrays, std::vector<double>* scratch) {
  std::vector<double> own;
  std::vector<double>& blocks = scratch == nullptr ? own : *scratch;
  double total = 0;
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> on_device, SquaresOnDevice(arrays));
  for (size_t i = 0; i < arrays.size(); ++i) {
    NDArray array = arrays[i];
    // A sum that overflows a float may still fit a double.
    if (!on_device.empty() && std::isfinite(on_device[i])) {
      total += static_cast<double>(on_device[i]);
      continue;
    }
    if (!array.context().is_cpu()) {
      COOPER_ASSIGN_OR_RETURN(array, array.CopyTo(Context::Cpu()));
    }
    const int64_t num_blocks = (array.size() + kBlock - 1) / kBlock;
    blocks.assign(static_cast<size_t>(num_blocks), 0);
    DispatchDType(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* values = static_cast<const T*>(array.raw_data());
      ParallelFor(num_blocks, 1, [&](int64_t first, int64_t last) {
        for (int64_t block = first; block < last; ++block) {
          const int64_t begin = block * kBlock;
          blocks[block] = SquaresOf(values + begin, std::min(kBlock, array.size() - begin));
        }
      });
    });
    for (double block : blocks) total += block;
  }
  return std::sqrt(total);
}

}  // namespace cooper
