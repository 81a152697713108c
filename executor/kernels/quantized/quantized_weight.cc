// Kernel of _quantized_weight.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/int8_end.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/int8_parts_param.h"

namespace cooper {
namespace {

using enum QuantizedWeightOutputs::Output;

// The workspace, numbers of each filter: the factor of its weight by BatchNorm, the greatest
// magnitude of the weight, and the outputs.
struct Scratch {
  ScratchCursor cursor;
  float* factors;
  float* magnitudes;
  float* scales;
  float* biases;

  Scratch(void* base, int64_t filters)
      : cursor(base),
        factors(cursor.Take<float>(filters)),
        magnitudes(cursor.Take<float>(filters)),
        scales(cursor.Take<float>(filters)),
        biases(cursor.Take<float>(filters)) {}
};

// Computes factors and biases of the filters.
void FoldBatchNorm(const KernelContext& c, const QuantizedWeightInputs& in, int64_t filters,
                   const Scratch& scratch) {
  const auto& param = c.param<QuantizedWeightParam>();
  const auto array = [&](int input) { return input < 0 ? nullptr : c.inputs[input].as<float>(); };
  const float *bias = array(in.bias), *gamma = array(in.gamma), *beta = array(in.beta);
  const float *mean = array(in.mean), *var = array(in.var);
  for (int64_t k = 0; k < filters; ++k) {
    const float own = bias == nullptr ? 0 : bias[k];
    scratch.factors[k] = 1;
    scratch.biases[k] = own;
    if (!param.batch_norm) continue;
    scratch.factors[k] =
        (param.fix_gamma ? 1 : gamma[k]) / std::sqrt(var[k] + static_cast<float>(param.eps));
    scratch.biases[k] = beta[k] + scratch.factors[k] * (own - mean[k]);
  }
}

void PutFloats(const KernelContext& c, int output, const float* values) {
  if (c.reqs[output] == WriteReq::kNull) return;
  float* const to = c.outputs[output].as<float>();
  for (int64_t i = 0; i < c.outputs[output].size(); ++i) {
    PutNumber(to + i, values[i], c.reqs[output] == WriteReq::kAdd);
  }
}

void Quantize(const KernelContext& c, const QuantizedWeightInputs& in, const Scratch& scratch) {
  const Shape& shape = c.inputs[in.weight].shape;
  const int64_t filters = shape[0], size = shape.Product(1, shape.rank());
  FoldBatchNorm(c, in, filters, scratch);
  const float* const weight = c.inputs[in.weight].as<float>();
  ParallelFor(filters, RowGrain(size), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      float greatest = 0;
      for (int64_t i = k * size; i < (k + 1) * size; ++i) {
        const float magnitude = std::abs(weight[i]);
        greatest = magnitude > greatest ? magnitude : greatest;
      }
      scratch.magnitudes[k] = greatest * std::abs(scratch.factors[k]);
    }
  });
  const float greatest =
      filters == 0 ? 0 : *std::max_element(scratch.magnitudes, scratch.magnitudes + filters);
  const bool by_filter = c.param<QuantizedWeightParam>().by_filter;
  for (int64_t k = 0; k < filters; ++k) {
    scratch.scales[k] = StepsPerUnit(DType::kInt8, by_filter ? scratch.magnitudes[k] : greatest);
  }
  if (c.reqs[kWeight] == WriteReq::kNull) return;
  int8_t* const out = c.outputs[kWeight].as<int8_t>();
  const bool add = c.reqs[kWeight] == WriteReq::kAdd;
  ParallelFor(filters, RowGrain(size), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const float factor = scratch.factors[k], scale = scratch.scales[k];
      PutIntegers(out, k * size, (k + 1) * size, add,
                  [=](int64_t i) { return RoundTo<int8_t>(weight[i] * factor * scale); });
    }
  });
}

// Keeps a weight that is int8 already.
void Keep(const KernelContext& c, const QuantizedWeightInputs& in, const Scratch& scratch) {
  const ArrayView& weight = c.inputs[in.weight];
  const int64_t filters = weight.shape[0];
  std::fill_n(scratch.scales, filters,
              StepsPerUnit(DType::kInt8, InputMagnitude(c, in.weight_min)));
  std::fill_n(scratch.biases, filters, 0.0F);
  if (in.bias >= 0) {
    const int8_t* const bias = c.inputs[in.bias].as<int8_t>();
    const float scale = StepsPerUnit(DType::kInt8, InputMagnitude(c, in.bias_min));
    for (int64_t k = 0; k < filters; ++k) scratch.biases[k] = static_cast<float>(bias[k]) / scale;
  }
  const int8_t* const from = weight.as<int8_t>();
  PutAllIntegers<int8_t>(c, [=](int64_t i) { return from[i]; });
}

absl::Status QuantizedWeightCpu(const KernelContext& c) {
  const auto& param = c.param<QuantizedWeightParam>();
  const QuantizedWeightInputs in(param);
  const Scratch scratch(c.workspace, c.inputs[in.weight].shape[0]);
  if (param.is_int8) {
    Keep(c, in, scratch);
  } else {
    Quantize(c, in, scratch);
  }
  PutFloats(c, kScale, scratch.scales);
  PutFloats(c, kBias, scratch.biases);
  return absl::OkStatus();
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  return Prepared{.workspace_bytes = Scratch(nullptr, c.inputs[0].shape[0]).cursor.bytes()};
}

COOPER_REGISTER_KERNEL(_quantized_weight, DeviceType::kCpu,
                       (DTypeSet{DType::kFloat32, DType::kInt8}), QuantizedWeightCpu, Prepare);

}  // namespace
}  // namespace cooper
