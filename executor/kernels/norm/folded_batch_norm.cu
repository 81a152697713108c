// GPU kernel of _folded_batch_norm.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "symbol/ops/fused/folded_batch_norm_param.h"

namespace cooper {
namespace {

// Pointers to missing inputs and to outputs that are not requested are null.
struct Arrays {
  const float *weight, *gamma, *beta, *mean, *var, *bias;
  float *scaled_weight, *shift;
  bool add_weight, add_shift;
};

// Folds a BatchNorm into n elements of filters, of `size` elements each, and into their biases.
__global__ void Fold(int64_t n, int64_t size, double eps, Arrays a) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t k = i / size;
    const FilterAffine affine(eps, a.gamma == nullptr ? 1 : a.gamma[k], a.beta[k], a.mean[k],
                              a.var[k]);
    if (a.scaled_weight != nullptr) {
      StoreTo(a.scaled_weight + i, a.weight[i] * affine.scale, a.add_weight);
    }
    if (a.shift != nullptr && i % size == 0) {
      const float bias = a.bias == nullptr ? 0 : a.bias[k];
      StoreTo(a.shift + k, affine.shift + bias * affine.scale, a.add_shift);
    }
  }
}

absl::Status FoldGpu(const KernelContext& c) {
  using enum FoldedBatchNormArrays::Input;
  using enum FoldedBatchNormArrays::Output;
  const auto& param = c.param<FoldedBatchNormParam>();
  const ArrayView& weight = c.inputs[kWeight];
  if (weight.size() == 0) return absl::OkStatus();
  const auto input = [&](int i) -> const float* { return c.inputs[i].as<float>(); };
  const auto output = [&](int i) {
    return c.reqs[i] == WriteReq::kNull ? nullptr : c.outputs[i].as<float>();
  };
  const Arrays arrays = {.weight = input(kWeight),
                         .gamma = param.fix_gamma ? nullptr : input(kGamma),
                         .beta = input(kBeta),
                         .mean = input(kMovingMean),
                         .var = input(kMovingVar),
                         .bias = param.no_bias ? nullptr : input(kBias),
                         .scaled_weight = output(kScaledWeight),
                         .shift = output(kShift),
                         .add_weight = c.reqs[kScaledWeight] == WriteReq::kAdd,
                         .add_shift = c.reqs[kShift] == WriteReq::kAdd};
  return LaunchElements(c, weight.size(), Fold, weight.size(), weight.size() / weight.shape[0],
                        param.eps, arrays);
}

COOPER_REGISTER_KERNEL(_folded_batch_norm, DeviceType::kGpu, kFloat32Only, FoldGpu);

}  // namespace
}  // namespace cooper
