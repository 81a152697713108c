// Kernels of layers of 8-bit integers.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/quantized/int8_convolution.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm_int8.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

constexpr int kData = 0, kWeight = 1, kBias = 2;

absl::Status FullyConnectedCpu(const KernelContext& c) {
  const auto& param = c.param<FullyConnectedParam>();
  const int ranges = param.no_bias ? 2 : 3;
  const bool is_signed = c.inputs[kData].dtype == DType::kInt8;
  PutProductRange(c, ranges, 127, is_signed ? 127 : 255);
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const int64_t hidden = param.num_hidden, inputs = c.inputs[kWeight].shape[1];
  // A bias has a range of its own; it is rounded towards 0 to steps of the product.
  int32_t* terms = nullptr;
  if (!param.no_bias) {
    const float data = QuantizedSteps(c.inputs[kData].dtype) / InputMagnitude(c, ranges);
    const float weight = QuantizedSteps(DType::kInt8) / InputMagnitude(c, ranges + 2);
    const float scale =
        data * weight * InputMagnitude(c, ranges + 4) / QuantizedSteps(DType::kInt8);
    const int8_t* bias = c.inputs[kBias].as<int8_t>();
    terms = static_cast<int32_t*>(c.workspace);
    for (int64_t k = 0; k < hidden; ++k) {
      terms[k] = IntegerOf<int32_t>(static_cast<float>(bias[k]) * scale);
    }
  }
  Int8Gemm({.m = c.outputs[0].size() / hidden,
            .n = hidden,
            .k = inputs,
            .a = c.inputs[kData].data,
            .a_unsigned = !is_signed,
            .lda = inputs,
            .b = c.inputs[kWeight].as<int8_t>(),
            .transpose_b = true,
            .ldb = inputs,
            .column_terms = terms,
            .add = c.reqs[0] == WriteReq::kAdd,
            .c = c.outputs[0].as<int32_t>(),
            .ldc = hidden});
  return absl::OkStatus();
}

// The workspace of a convolution: what is added to the sums of each filter, and that of the sums.
struct ConvolutionScratch {
  ConvolutionScratch(void* base, const ConvolutionProduct& p, DType dtype)
      : cursor(base), terms(cursor.Take<int32_t>(p.filters)), convolution(p, dtype, cursor) {}

  ScratchCursor cursor;
  int32_t* terms;
  Int8Convolution convolution;
};

absl::Status ConvolutionCpu(const KernelContext& c) {
  const auto& param = c.param<ConvolutionParam>();
  PutProductRange(c, param.no_bias ? 2 : 3, 127, 127);
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const ConvolutionProduct p = ProductOf(param, data.shape, c.outputs[0].shape);
  ConvolutionScratch scratch(c.workspace, p, data.dtype);
  // The bias is added to the sums without regard to its range, as in MXNet.
  for (int64_t k = 0; !param.no_bias && k < p.filters; ++k) {
    scratch.terms[k] = c.inputs[kBias].as<int8_t>()[k];
  }
  scratch.convolution.SetFilters(c.inputs[kWeight].as<int8_t>(),
                                 param.no_bias ? nullptr : scratch.terms);
  for (int64_t n = 0; n < p.batch; ++n) {
    scratch.convolution.Run(data.as<uint8_t>() + n * p.image_step(), c.reqs[0] == WriteReq::kAdd,
                            c.outputs[0].as<int32_t>() + n * p.map_step());
  }
  return absl::OkStatus();
}

absl::Status CheckData(const PrepareContext& c) {
  if (c.inputs[kData].dtype != DType::kInt32) return absl::OkStatus();
  return absl::InvalidArgumentError("input 'data' is int32, expected int8 or uint8");
}

absl::StatusOr<Prepared> PrepareFullyConnected(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckData(c));
  const auto& param = c.param<FullyConnectedParam>();
  const int64_t terms = param.no_bias ? 0 : param.num_hidden;
  return Prepared{.workspace_bytes = terms * static_cast<int64_t>(sizeof(int32_t))};
}

absl::StatusOr<Prepared> PrepareConvolution(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckData(c));
  const ArrayView& data = c.inputs[kData];
  const ConvolutionProduct p =
      ProductOf(c.param<ConvolutionParam>(), data.shape, c.outputs[0].shape);
  const ConvolutionScratch scratch(nullptr, p, data.dtype);
  return Prepared{.workspace_bytes = scratch.cursor.bytes()};
}

// The range of data is that of the output.
void PassRange(const KernelContext& c) {
  PutRange(c, *c.inputs[QuantizedArrays::kMin].as<float>(),
           *c.inputs[QuantizedArrays::kMax].as<float>());
}

absl::Status ActivationCpu(const KernelContext& c) {
  PassRange(c);
  const int8_t* x = c.inputs[0].as<int8_t>();
  PutAllIntegers<int8_t>(c, [=](int64_t i) { return std::max<int8_t>(x[i], 0); });
  return absl::OkStatus();
}

// Moves bytes, whether they are signed or not.
absl::Status FlattenCpu(const KernelContext& c) {
  PassRange(c);
  const uint8_t* x = c.inputs[0].as<uint8_t>();
  PutAllIntegers<uint8_t>(c, [=](int64_t i) { return x[i]; });
  return absl::OkStatus();
}

constexpr DeviceType kCpu = DeviceType::kCpu;
constexpr DTypeSet kEightBits = {DType::kInt8, DType::kUint8};
constexpr DTypeSet kProducts = {DType::kInt8, DType::kUint8, DType::kInt32};
COOPER_REGISTER_KERNEL(_contrib_quantized_fully_connected, kCpu, kProducts, FullyConnectedCpu,
                       PrepareFullyConnected);
COOPER_REGISTER_KERNEL(_contrib_quantized_conv, kCpu, kProducts, ConvolutionCpu,
                       PrepareConvolution);
COOPER_REGISTER_KERNEL(_contrib_quantized_act, kCpu, DTypeSet{DType::kInt8}, ActivationCpu);
COOPER_REGISTER_KERNEL(_contrib_quantized_flatten, kCpu, kEightBits, FlattenCpu);

}  // namespace
}  // namespace cooper
