// Kernels of _sample_multinomial and its gradient for CPUs.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/random/multinomial_draws.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

absl::StatusOr<Prepared> PrepareMultinomial(const PrepareContext& c) {
  return PrepareSums(c, kFloats);
}

absl::Status MultinomialCpu(const KernelContext& c) {
  using enum MultinomialArrays::Output;
  const ArrayView& data = c.inputs[MultinomialArrays::kData];
  const ArrayView& drawn = c.outputs[kOutcome];
  const MultinomialExtents e(data, drawn);
  return DispatchFloat(data.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* const x = data.as<T>();
    auto* const sums = static_cast<double*>(c.workspace);
    ParallelForPlain(e.rows, RowGrain(e.outcomes), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        double sum = 0;
        for (int64_t i = row * e.outcomes; i < (row + 1) * e.outcomes; ++i) {
          sums[i] = sum += Load(x[i]);
        }
      }
    });
    const bool has_log = c.outputs.size() > 1 && c.reqs[kLogProb] != WriteReq::kNull;
    ParallelForPlain(drawn.size(), 1024, [&](int64_t begin, int64_t end) {
      constexpr int64_t kBlock = 64;
      for (int64_t first = begin; first < end; first += kBlock) {
        const int64_t n = std::min(kBlock, end - first);
        int64_t outcomes[kBlock];
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = (first + k) / e.draws * e.outcomes;
          outcomes[k] = OutcomeOf(sums + row, e.outcomes, c.random, first + k);
        }
        StoreBlock(outcomes, n, c.reqs[kOutcome], ElementAt(drawn.data, drawn.dtype, first),
                   drawn.dtype);
        if (!has_log) continue;
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = (first + k) / e.draws * e.outcomes;
          Store(c.outputs[kLogProb].as<T>() + first + k, std::log(Load(x[row + outcomes[k]])),
                c.reqs[kLogProb] == WriteReq::kAdd);
        }
      }
    });
  });
}

absl::Status MultinomialBackwardCpu(const KernelContext& c) {
  using enum MultinomialGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const MultinomialExtents e(data, c.inputs[kOgrad]);
  const IndexReader outcomes(c.inputs[kOutcome]);
  return DispatchFloat(data.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* const x = data.as<T>();
    const T* const ograd = c.inputs[kOgrad].as<T>();
    T* const grad = c.outputs[0].as<T>();
    ParallelForPlain(e.rows, RowGrain(e.outcomes + e.draws), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* const grad_row = grad + row * e.outcomes;
        if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad_row, e.outcomes, T{});
        for (int64_t i = row * e.draws; i < (row + 1) * e.draws; ++i) {
          const int64_t k = outcomes[i];
          if (k < 0 || k >= e.outcomes) continue;  // the dtype cannot hold the outcome
          Store(grad_row + k, Load(ograd[i]) / Load(x[row * e.outcomes + k]), /*add=*/true);
        }
      }
    });
  });
}

COOPER_REGISTER_KERNEL(_sample_multinomial, DeviceType::kCpu, kAnyDType, MultinomialCpu,
                       PrepareMultinomial);
COOPER_REGISTER_KERNEL(_backward_sample_multinomial, DeviceType::kCpu, kFloats,
                       MultinomialBackwardCpu);

}  // namespace
}  // namespace cooper
