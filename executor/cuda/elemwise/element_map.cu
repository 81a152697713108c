#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "executor/cuda/elemwise/element_map.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/words.h"

namespace cooper {
namespace {

template <typename C>
MapKernel KernelIn(const ElementMap& map) {
  if constexpr (std::is_same_v<C, float>) {
    return map.f32;
  } else if constexpr (std::is_same_v<C, double>) {
    return map.f64;
  } else {
    return map.i64;
  }
}

bool IsPlain(const ElementOperands& operands, int arity, const ElementWalk& walk, DType out) {
  if (walk.rank != 1 || out != DType::kFloat32) return false;
  for (int k = 0; k < arity; ++k) {
    if (operands.data[k] == nullptr) continue;
    if (operands.dtype[k] != DType::kFloat32 || walk.strides[k][0] != 1) return false;
  }
  return true;
}

absl::Status LaunchMap(const KernelContext& c, const ElementMap& map,
                       absl::Span<const ElemwiseOperand> operands, const ElementWalk& walk,
                       const ArrayView& output, WriteReq req) {
  MapArguments arguments{
      .walk = walk,
      .operands = ElementOperandsOf(operands, output.dtype, map.exact_integers),
      .out = output.data,
      .out_dtype = output.dtype,
      .to_integers = !IsFloating(output.dtype),
      .add = req == WriteReq::kAdd,
      .plain = false,
  };
  arguments.plain = IsPlain(arguments.operands, map.arity, walk, output.dtype);
  return DispatchCompute(output.dtype, map.exact_integers, [&](auto zero) {
    return LaunchElements(c, walk.count, KernelIn<decltype(zero)>(map), arguments);
  });
}

}  // namespace

ElementOperands ElementOperandsOf(absl::Span<const ElemwiseOperand> operands, DType dtype,
                                  bool exact_integers) {
  ElementOperands result = {};
  for (size_t k = 0; k < operands.size(); ++k) {
    result.data[k] = operands[k].data;
    result.dtype[k] = operands[k].dtype;
    if (operands[k].data != nullptr) continue;
    const absl::Status ignored = DispatchCompute(dtype, exact_integers, [&](auto zero) {
      const auto value = RoundedTo<decltype(zero)>(dtype, operands[k].scalar);
      std::memcpy(&result.scalar[k], &value, sizeof(value));
      return absl::OkStatus();
    });
    ignored.IgnoreError();
  }
  return result;
}

absl::Status RunElementMap(const KernelContext& c, const ElementMap& map,
                           absl::Span<const ElemwiseOperand> operands, const ArrayView& output,
                           WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  ElementWalk walk;
  walk.rank = 1;
  walk.count = output.size();
  walk.extents[0] = output.size();
  for (size_t k = 0; k < operands.size(); ++k) walk.strides[k][0] = 1;
  return LaunchMap(c, map, operands, walk, output, req);
}

absl::Status RunBroadcastMap(const KernelContext& c, const ElementMap& map,
                             absl::Span<const ElemwiseOperand> operands,
                             absl::Span<const absl::Span<const int64_t>> shapes,
                             absl::Span<const int64_t> full, const ArrayView& output,
                             WriteReq req) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  BroadcastPlan plan;
  if (!MakeBroadcastPlan(full, shapes, &plan)) {
    return absl::UnimplementedError(
        absl::StrCat("broadcast to ", output.shape.ToString(), ": too many axes"));
  }
  ElementWalk walk;
  for (int axis = 0; axis < plan.rank; ++axis) walk.Add(plan, axis, map.arity);
  return LaunchMap(c, map, operands, walk, output, req);
}

}  // namespace cooper
