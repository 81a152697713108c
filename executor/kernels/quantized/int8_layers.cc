// Kernels of _int8_convolution and _int8_fully_connected.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/int8_convolution.h"
#include "executor/kernels/quantized/int8_end.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm_int8.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/int8_parts_param.h"

namespace cooper {
namespace {

using enum Int8LayerArrays::Input;

// The factors and terms of the filters, in the workspace, and the rest of the end of a layer.
template <typename T>
struct LayerEnd {
  using Number = typename Int8End<T>::Number;

  Number* factors;
  Number* terms;
  Int8End<T> end = {};
};

// Memory for the factors and terms of a layer, float or double.
struct EndScratch {
  EndScratch(int64_t filters, ScratchCursor& cursor)
      : factors(cursor.Take<double>(filters)), terms(cursor.Take<double>(filters)) {}

  void* factors;
  void* terms;
};

// Returns the end of a layer with `filters` filters, and writes its range.
template <typename T>
LayerEnd<T> MakeEnd(const KernelContext& c, const Int8EndParam& param, bool sum, int64_t filters,
                    const EndScratch& scratch) {
  using Number = typename Int8End<T>::Number;
  LayerEnd<T> layer = {static_cast<Number*>(scratch.factors), static_cast<Number*>(scratch.terms)};
  const DType data = c.inputs[kData].dtype;
  const float data_magnitude = InputMagnitude(c, kMin);
  const float data_steps = StepsPerUnit(data, data_magnitude);
  const float *scales = c.inputs[kScale].as<float>(), *biases = c.inputs[kBias].as<float>();
  // Steps of the output for a number of 1; those of int32 are those of the sums.
  Number steps = 1;
  if constexpr (std::is_same_v<T, int32_t>) {
    const float scale = filters == 0 ? 1 : scales[0];
    steps = static_cast<Number>(data_steps) * scale;
    const float weight_magnitude = QuantizedSteps(DType::kInt8) / scale;
    const float magnitude = data_magnitude / 127 *
                            (weight_magnitude / (data == DType::kInt8 ? 127 : 255)) *
                            QuantizedSteps(DType::kInt32);
    PutRange(c, -magnitude, magnitude);
  } else if constexpr (!std::is_same_v<T, float>) {
    const float min = *param.min_calib_range, max = *param.max_calib_range;
    steps = StepsPerUnit(c.outputs[0].dtype, RangeMagnitude(min, max));
    PutRange(c, min, max);
  }
  for (int64_t k = 0; k < filters; ++k) {
    layer.factors[k] = steps / data_steps / scales[k];
    layer.terms[k] = biases[k] * steps;
    if constexpr (std::is_same_v<T, int32_t>) {
      layer.factors[k] = 1;
      layer.terms[k] = std::nearbyint(layer.terms[k]);
    }
  }
  layer.end.negative = static_cast<Number>(param.negative);
  layer.end.limit = static_cast<Number>(param.limit) * steps;
  if (sum) {
    layer.end.addend_factor =
        steps / StepsPerUnit(c.inputs[kSum].dtype, InputMagnitude(c, kMinSum));
  }
  return layer;
}

// The workspace of a convolution.
struct ConvolutionScratch {
  ConvolutionScratch(void* base, const ConvolutionProduct& p, DType dtype)
      : cursor(base),
        sums(cursor.Take<int32_t>(p.map_step())),
        end(p.groups * p.filters, cursor),
        convolution(p, dtype, cursor) {}

  ScratchCursor cursor;
  int32_t* sums;  // of one group of an image
  EndScratch end;
  Int8Convolution convolution;
};

// Writes the map of a group from its sums. S is the type of the addend, whose factor is 0 if there
// is none.
template <typename T, typename S>
void EndMap(const LayerEnd<T>& layer, int64_t first_filter, int64_t filters, int64_t positions,
            const int32_t* sums, const S* addend, bool add, T* out) {
  using Number = typename Int8End<T>::Number;
  ParallelFor(filters, RowGrain(positions), [&](int64_t begin, int64_t end) {
    const Int8End<T> at_end = layer.end;
    for (int64_t k = begin; k < end; ++k) {
      const Number factor = layer.factors[first_filter + k], term = layer.terms[first_filter + k];
      const int32_t* const x = sums + k * positions;
      T* const y = out + k * positions;
      if (addend == nullptr) {
        for (int64_t i = 0; i < positions; ++i) {
          PutNumber(y + i, at_end.At(x[i], factor, term, 0), add);
        }
        continue;
      }
      const S* const s = addend + k * positions;
      for (int64_t i = 0; i < positions; ++i) {
        PutNumber(y + i, at_end.At(x[i], factor, term, static_cast<Number>(s[i])), add);
      }
    }
  });
}

template <typename T>
void Convolution(const KernelContext& c) {
  const auto& param = c.param<Int8ConvolutionParam>();
  const ArrayView& data = c.inputs[kData];
  const ConvolutionProduct p = ProductOf(param, data.shape, c.outputs[0].shape);
  ConvolutionScratch scratch(c.workspace, p, data.dtype);
  const LayerEnd<T> end = MakeEnd<T>(c, param, param.sum, p.groups * p.filters, scratch.end);
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  for (int64_t g = 0; g < p.groups; ++g) {
    scratch.convolution.SetFilters(c.inputs[kWeight].as<int8_t>() + g * p.weight_step(), nullptr);
    for (int64_t n = 0; n < p.batch; ++n) {
      const int64_t map = (n * p.groups + g) * p.map_step();
      scratch.convolution.Run(data.as<uint8_t>() + (n * p.groups + g) * p.image_step(),
                              /*add=*/false, scratch.sums);
      T* const out = c.outputs[0].as<T>() + map;
      const int64_t first = g * p.filters, positions = p.g.columns();
      if (!param.sum) {
        EndMap<T, int8_t>(end, first, p.filters, positions, scratch.sums, nullptr, add, out);
      } else if (c.inputs[kSum].dtype == DType::kInt8) {
        EndMap(end, first, p.filters, positions, scratch.sums, c.inputs[kSum].as<int8_t>() + map,
               add, out);
      } else {
        EndMap(end, first, p.filters, positions, scratch.sums, c.inputs[kSum].as<uint8_t>() + map,
               add, out);
      }
    }
  }
}

// The workspace of a dense layer.
struct DenseScratch {
  DenseScratch(void* base, int64_t elements, int64_t hidden)
      : cursor(base), sums(cursor.Take<int32_t>(elements)), end(hidden, cursor) {}

  ScratchCursor cursor;
  int32_t* sums;
  EndScratch end;
};

template <typename T>
void FullyConnected(const KernelContext& c) {
  const auto& param = c.param<Int8DenseParam>();
  const int64_t hidden = param.num_hidden, elements = c.outputs[0].size();
  const int64_t inputs = c.inputs[kWeight].shape[1];
  DenseScratch scratch(c.workspace, elements, hidden);
  const LayerEnd<T> layer = MakeEnd<T>(c, param, /*sum=*/false, hidden, scratch.end);
  if (c.reqs[0] == WriteReq::kNull) return;
  Int8Gemm({.m = elements / hidden,
            .n = hidden,
            .k = inputs,
            .a = c.inputs[kData].data,
            .a_unsigned = c.inputs[kData].dtype == DType::kUint8,
            .lda = inputs,
            .b = c.inputs[kWeight].as<int8_t>(),
            .transpose_b = true,
            .ldb = inputs,
            .c = scratch.sums,
            .ldc = hidden});
  const bool add = c.reqs[0] == WriteReq::kAdd;
  T* const out = c.outputs[0].as<T>();
  ParallelFor(elements / hidden, RowGrain(hidden), [&](int64_t begin, int64_t end) {
    const LayerEnd<T> at_end = layer;
    for (int64_t i = begin * hidden; i < end * hidden; i += hidden) {
      for (int64_t k = 0; k < hidden; ++k) {
        PutNumber(out + i + k,
                  at_end.end.At(scratch.sums[i + k], at_end.factors[k], at_end.terms[k], 0), add);
      }
    }
  });
}

// Calls fn(TypeTag<T>()) for the dtype of an output.
template <typename Fn>
absl::Status DispatchOutput(const KernelContext& c, const Fn& fn) {
  if (c.outputs[0].dtype == DType::kFloat32) {
    fn(TypeTag<float>());
  } else {
    DispatchQuantized(c.outputs[0].dtype, fn);
  }
  return absl::OkStatus();
}

absl::Status ConvolutionCpu(const KernelContext& c) {
  return DispatchOutput(c, [&](auto type) { Convolution<typename decltype(type)::type>(c); });
}

absl::Status FullyConnectedCpu(const KernelContext& c) {
  return DispatchOutput(c, [&](auto type) { FullyConnected<typename decltype(type)::type>(c); });
}

absl::Status CheckIntegers(const PrepareContext& c, int input, const char* name) {
  const DType dtype = c.inputs[input].dtype;
  if (dtype == DType::kInt8 || dtype == DType::kUint8) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input '", name, "' is ", DTypeName(dtype), ", expected int8 or uint8"));
}

absl::StatusOr<Prepared> PrepareConvolution(const PrepareContext& c) {
  const auto& param = c.param<Int8ConvolutionParam>();
  COOPER_RETURN_IF_ERROR(CheckIntegers(c, kData, "data"));
  if (param.sum) COOPER_RETURN_IF_ERROR(CheckIntegers(c, kSum, "sum"));
  const ConvolutionProduct p = ProductOf(param, c.inputs[kData].shape, c.outputs[0].shape);
  const ConvolutionScratch scratch(nullptr, p, c.inputs[kData].dtype);
  return Prepared{.workspace_bytes = scratch.cursor.bytes()};
}

absl::StatusOr<Prepared> PrepareFullyConnected(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckIntegers(c, kData, "data"));
  const auto& param = c.param<Int8DenseParam>();
  const DenseScratch scratch(nullptr, c.outputs[0].size(), param.num_hidden);
  return Prepared{.workspace_bytes = scratch.cursor.bytes()};
}

constexpr DTypeSet kArrays = {DType::kInt8, DType::kUint8, DType::kInt32, DType::kFloat32};
COOPER_REGISTER_KERNEL(_int8_convolution, DeviceType::kCpu, kArrays, ConvolutionCpu,
                       PrepareConvolution);
COOPER_REGISTER_KERNEL(_int8_fully_connected, DeviceType::kCpu, kArrays, FullyConnectedCpu,
                       PrepareFullyConnected);

}  // namespace
}  // namespace cooper
