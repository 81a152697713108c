// Kernels of _sg_mkldnn_selfatt_qk and _sg_mkldnn_selfatt_valatt: products of 8-bit integers, head
// by head.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/int8_end.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/products/gemm_int8.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/int8_layer_param.h"

namespace cooper {
namespace {

// The extents of queries_keys_values (length, batch_size, heads * 3 * head_dim).
struct Extents {
  Extents(const Int8AttentionParam& param, const Shape& data)
      : length(data[0]),
        matrices(data[1] * param.heads),
        head_dim(data[2] / (3 * param.heads)),
        row(data[1] * data[2]) {}

  int64_t length, matrices, head_dim;
  int64_t row;  // elements from one step of the sequence to the next
};

// Returns the factor of the sums of products, of which `steps` stand for a number of 1, whose
// result is `scale` times them. Writes the range of an int8 output.
template <typename T>
typename Int8End<T>::Number FactorOf(const KernelContext& c, double steps, double scale) {
  const auto& param = c.param<Int8AttentionParam>();
  using Number = typename Int8End<T>::Number;
  if constexpr (std::is_same_v<T, int8_t>) {
    const float min = *param.min_calib_range, max = *param.max_calib_range;
    PutRange(c, min, max);
    return static_cast<Number>(scale * StepsPerUnit(DType::kInt8, RangeMagnitude(min, max)) /
                               steps);
  }
  return static_cast<Number>(std::is_same_v<T, float> ? scale / steps : scale);
}

// Writes `rows` rows of `columns` numbers from sums that are adjacent; the rows of the output are
// `step` elements apart.
template <typename T>
void EndRows(const KernelContext& c, int64_t rows, int64_t columns, const int32_t* sums,
             typename Int8End<T>::Number factor, T* out, int64_t step) {
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(rows, RowGrain(columns), [&](int64_t begin, int64_t end) {
    const Int8End<T> at_end;
    for (int64_t row = begin; row < end; ++row) {
      const int32_t* const x = sums + row * columns;
      for (int64_t i = 0; i < columns; ++i) {
        PutNumber(out + row * step + i, at_end.At(x[i], factor, 0, 0), add);
      }
    }
  });
}

template <typename T>
void Qk(const KernelContext& c) {
  using enum Int8QkArrays::Input;
  const Extents e(c.param<Int8AttentionParam>(), c.inputs[kQueriesKeysValues].shape);
  const double steps = StepsPerUnit(DType::kInt8, InputMagnitude(c, kMin));
  const auto factor = FactorOf<T>(c, steps * steps, 1 / std::sqrt(static_cast<double>(e.head_dim)));
  if constexpr (std::is_same_v<T, int32_t>) {
    const float step = InputMagnitude(c, kMin) / 127;
    const float magnitude = step * step * QuantizedSteps(DType::kInt32);
    PutRange(c, -magnitude, magnitude);
  }
  if (c.reqs[0] == WriteReq::kNull) return;
  auto* const sums = static_cast<int32_t*>(c.workspace);
  for (int64_t m = 0; m < e.matrices; ++m) {
    const int8_t* const queries = c.inputs[kQueriesKeysValues].as<int8_t>() + m * 3 * e.head_dim;
    Int8Gemm({.m = e.length,
              .n = e.length,
              .k = e.head_dim,
              .a = queries,
              .lda = e.row,
              .b = queries + e.head_dim,
              .transpose_b = true,
              .ldb = e.row,
              .c = sums,
              .ldc = e.length});
    EndRows(c, e.length, e.length, sums, factor, c.outputs[0].as<T>() + m * e.length * e.length,
            e.length);
  }
}

template <typename T>
void Values(const KernelContext& c) {
  using enum Int8ValuesArrays::Input;
  const Extents e(c.param<Int8AttentionParam>(), c.inputs[kQueriesKeysValues].shape);
  const double steps = StepsPerUnit(DType::kInt8, InputMagnitude(c, kMin));
  const double attention_steps = StepsPerUnit(DType::kUint8, InputMagnitude(c, kMinAttention));
  const auto factor = FactorOf<T>(c, steps * attention_steps, 1);
  if constexpr (std::is_same_v<T, int32_t>) PutProductRange(c, kMin, 127, 255);
  if (c.reqs[0] == WriteReq::kNull) return;
  auto* const sums = static_cast<int32_t*>(c.workspace);
  for (int64_t m = 0; m < e.matrices; ++m) {
    Int8Gemm({.m = e.length,
              .n = e.head_dim,
              .k = e.length,
              .a = c.inputs[kAttention].as<uint8_t>() + m * e.length * e.length,
              .a_unsigned = true,
              .lda = e.length,
              .b = c.inputs[kQueriesKeysValues].as<int8_t>() + (m * 3 + 2) * e.head_dim,
              .ldb = e.row,
              .c = sums,
              .ldc = e.head_dim});
    EndRows(c, e.length, e.head_dim, sums, factor, c.outputs[0].as<T>() + m * e.head_dim,
            e.matrices * e.head_dim);
  }
}

// Calls fn(TypeTag<T>()) for the dtype of the output.
template <typename Fn>
absl::Status DispatchOutput(const KernelContext& c, const Fn& fn) {
  if (c.outputs[0].dtype == DType::kFloat32) {
    fn(TypeTag<float>());
  } else if (c.outputs[0].dtype == DType::kInt8) {
    fn(TypeTag<int8_t>());
  } else {
    fn(TypeTag<int32_t>());
  }
  return absl::OkStatus();
}

absl::Status QkCpu(const KernelContext& c) {
  return DispatchOutput(c, [&](auto type) { Qk<typename decltype(type)::type>(c); });
}

absl::Status ValuesCpu(const KernelContext& c) {
  return DispatchOutput(c, [&](auto type) { Values<typename decltype(type)::type>(c); });
}

// Returns a workspace for the sums of one head, `columns` for each step of the sequence.
Prepared PreparedFor(const Extents& e, int64_t columns) {
  if (e.matrices == 0) return {};
  return {.workspace_bytes = e.length * columns * static_cast<int64_t>(sizeof(int32_t))};
}

absl::StatusOr<Prepared> PrepareQk(const PrepareContext& c) {
  const Extents e(c.param<Int8AttentionParam>(), c.inputs[0].shape);
  return PreparedFor(e, e.length);
}

absl::StatusOr<Prepared> PrepareValues(const PrepareContext& c) {
  const Extents e(c.param<Int8AttentionParam>(), c.inputs[0].shape);
  return PreparedFor(e, e.head_dim);
}

constexpr DTypeSet kArrays = {DType::kInt8, DType::kInt32, DType::kFloat32};
COOPER_REGISTER_KERNEL(_sg_mkldnn_selfatt_qk, DeviceType::kCpu, kArrays, QkCpu, PrepareQk);
COOPER_REGISTER_KERNEL(_sg_mkldnn_selfatt_valatt, DeviceType::kCpu, kArrays, ValuesCpu,
                       PrepareValues);

}  // namespace
}  // namespace cooper
