#include "module/kvstore/sum_arrays.h"

#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Fewest elements per thread.
constexpr int64_t kGrain = 16384;

// Sets `on_cpu` to the arrays, copied to CPU memory where they are elsewhere.
absl::Status AllOnCpu(absl::Span<const NDArray> arrays, const NDArray& like,
                      std::vector<NDArray>* on_cpu) {
  if (arrays.empty()) return absl::InvalidArgumentError("no arrays to add");
  for (const NDArray& array : arrays) {
    if (array.shape() != like.shape() || array.dtype() != like.dtype()) {
      return absl::InvalidArgumentError(
          absl::StrCat("got ", array.ToString(), ", expected ", like.ToString()));
    }
    COOPER_ASSIGN_OR_RETURN(on_cpu->emplace_back(), OnCpu(array));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SumArrays(absl::Span<const NDArray> arrays, const NDArray& sum) {
  std::vector<NDArray> on_cpu;
  COOPER_RETURN_IF_ERROR(AllOnCpu(arrays, sum, &on_cpu));
  if (on_cpu.size() == 1) {
    return on_cpu[0].raw_data() == sum.raw_data() ? absl::OkStatus() : sum.CopyFrom(on_cpu[0]);
  }
  DispatchDType(sum.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    T* to = static_cast<T*>(sum.raw_data());
    ParallelFor(sum.size(), kGrain, [&](int64_t begin, int64_t end) {
      // Adds the first two together, so that `sum` is not read.
      const T* a = static_cast<const T*>(on_cpu[0].raw_data());
      const T* b = static_cast<const T*>(on_cpu[1].raw_data());
      for (int64_t i = begin; i < end; ++i) {
        to[i] = static_cast<T>(static_cast<C>(a[i]) + static_cast<C>(b[i]));
      }
      for (size_t k = 2; k < on_cpu.size(); ++k) {
        const T* c = static_cast<const T*>(on_cpu[k].raw_data());
        for (int64_t i = begin; i < end; ++i) {
          to[i] = static_cast<T>(static_cast<C>(to[i]) + static_cast<C>(c[i]));
        }
      }
    });
  });
  return absl::OkStatus();
}

absl::Status MeanOfArrays(absl::Span<const NDArray> arrays, const NDArray& mean) {
  std::vector<NDArray> on_cpu;
  COOPER_RETURN_IF_ERROR(AllOnCpu(arrays, mean, &on_cpu));
  DispatchDType(mean.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(mean.raw_data());
    const T* first = static_cast<const T*>(on_cpu[0].raw_data());
    ParallelFor(mean.size(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        // The first value plus the mean distance from it: exact if all are equal.
        double distance = 0;
        const double origin = static_cast<double>(static_cast<ComputeType<T>>(first[i]));
        for (size_t k = 1; k < on_cpu.size(); ++k) {
          const T* other = static_cast<const T*>(on_cpu[k].raw_data());
          distance += static_cast<double>(static_cast<ComputeType<T>>(other[i])) - origin;
        }
        const double value =
            distance == 0 ? origin : origin + distance / static_cast<double>(on_cpu.size());
        to[i] = static_cast<T>(static_cast<ComputeType<T>>(value));
      }
    });
  });
  return absl::OkStatus();
}

}  // namespace cooper
