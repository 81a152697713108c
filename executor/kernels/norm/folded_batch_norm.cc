// Kernel of _folded_batch_norm.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/folded_batch_norm_param.h"

namespace cooper {
namespace {

absl::Status Run(const KernelContext& c) {
  using enum FoldedBatchNormArrays::Input;
  using enum FoldedBatchNormArrays::Output;
  const auto& param = c.param<FoldedBatchNormParam>();
  const auto values = [&](int i) -> const float* { return c.inputs[i].as<float>(); };
  const float* const bias = param.no_bias ? nullptr : values(kBias);
  const int64_t filters = c.inputs[kWeight].shape[0];
  if (filters == 0) return absl::OkStatus();
  const int64_t size = c.inputs[kWeight].size() / filters;
  ParallelFor(filters, RowGrain(size), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const FilterAffine a(param.eps, param.fix_gamma ? 1 : values(kGamma)[k], values(kBeta)[k],
                           values(kMovingMean)[k], values(kMovingVar)[k]);
      if (c.reqs[kScaledWeight] != WriteReq::kNull) {
        const float* const from = values(kWeight);
        auto* const to = c.outputs[kScaledWeight].as<float>();
        const bool add = c.reqs[kScaledWeight] == WriteReq::kAdd;
        for (int64_t i = k * size; i < (k + 1) * size; ++i) Store(to + i, from[i] * a.scale, add);
      }
      if (c.reqs[kShift] != WriteReq::kNull) {
        Store(c.outputs[kShift].as<float>() + k,
              a.shift + (bias == nullptr ? 0 : bias[k] * a.scale),
              c.reqs[kShift] == WriteReq::kAdd);
      }
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_folded_batch_norm, DeviceType::kCpu, kFloat32Only, Run);

}  // namespace
}  // namespace cooper
