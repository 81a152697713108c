// Kernel of _contrib_quantized_concat.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/quantized_concat_param.h"

namespace cooper {
namespace {

// A block of adjacent elements for each index of the axes before the joined one.
struct Blocks {
  int64_t count;
  int64_t from_size, to_size;  // elements of a block of the input and of the output
};

// Copies the blocks of an input, `scale` steps of the output for each of its steps. A scale of 1
// copies unchanged.
template <typename To, typename From>
void CopyBlocks(const Blocks& b, float scale, const From* from, To* to, bool add) {
  ParallelFor(b.count, RowGrain(b.from_size), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const From* const x = from + block * b.from_size;
      To* const y = to + block * b.to_size;
      if (std::is_same_v<From, To> && scale == 1 && !add) {
        std::copy_n(x, b.from_size, y);
      } else {
        PutIntegers(y, 0, b.from_size, add,
                    [=](int64_t i) { return RoundTo<To>(static_cast<float>(x[i]) * scale); });
      }
    }
  });
}

absl::Status QuantizedConcatCpu(const KernelContext& c) {
  const auto& param = c.param<QuantizedConcatParam>();
  const int arrays = static_cast<int>(param.num_args);
  float min = 0, max = 0;
  for (int i = 0; i < arrays; ++i) {
    min = std::min(min, *c.inputs[arrays + 2 * i].as<float>());
    max = std::max(max, *c.inputs[arrays + 2 * i + 1].as<float>());
  }
  PutRange(c, min, max);
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& out = c.outputs[0];
  const float out_scale = QuantizedSteps(out.dtype) / RangeMagnitude(min, max);
  const int rank = out.shape.rank(), axis = param.Axis(rank);
  int64_t begin = 0;
  for (int i = 0; i < arrays; ++i) {
    const ArrayView& in = c.inputs[i];
    const float scale = out_scale / (QuantizedSteps(in.dtype) / InputMagnitude(c, arrays + 2 * i));
    const Blocks blocks = {in.shape.Product(0, axis), in.shape.Product(axis, rank),
                           out.shape.Product(axis, rank)};
    DispatchQuantized(out.dtype, [&](auto to_type) {
      DispatchQuantized(in.dtype, [&](auto from_type) {
        using To = typename decltype(to_type)::type;
        using From = typename decltype(from_type)::type;
        CopyBlocks(blocks, scale, in.as<From>(), out.as<To>() + begin, c.reqs[0] == WriteReq::kAdd);
      });
    });
    begin += blocks.from_size;
  }
  return absl::OkStatus();
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  for (int64_t i = 0; i < c.param<QuantizedConcatParam>().num_args; ++i) {
    const DType dtype = c.inputs[i].dtype;
    if (dtype == DType::kInt8 || dtype == DType::kUint8) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is ", DTypeName(dtype), ", expected int8 or uint8"));
  }
  return Prepared{};
}

COOPER_REGISTER_KERNEL(_contrib_quantized_concat, DeviceType::kCpu,
                       (DTypeSet{DType::kInt8, DType::kUint8}), QuantizedConcatCpu, Prepare);

}  // namespace
}  // namespace cooper
