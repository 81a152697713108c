#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/kernels/loops/element_map.h"

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

bool IsAligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % sizeof(float4) == 0; }

absl::Status LaunchMap(const KernelContext& c, const ElementMap& map,
                       absl::Span<const ElemwiseOperand> operands, const ElementWalk& walk,
                       DType computed_as, const ArrayView& output, WriteReq req) {
  MapArguments arguments{
      .walk = walk,
      .operands = ElementOperandsOf(operands, computed_as, map.exact_integers),
      .out = output.data,
      .out_dtype = output.dtype,
      .to_integers = !IsFloating(output.dtype),
      .add = req == WriteReq::kAdd,
      .quads = {.count = 0},
  };
  const bool in_floats = output.dtype == DType::kFloat32 && computed_as == output.dtype;
  if (in_floats && IsAligned(output.data)) {
    arguments.quads = QuadWalkOf(arguments.operands, map.arity, walk);
  }
  const int64_t work = arguments.quads.count > 0 ? arguments.quads.count : walk.count;
  return DispatchCompute(computed_as, map.exact_integers, [&](auto zero) {
    return LaunchElements(c, work, KernelIn<decltype(zero)>(map), arguments);
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

ElementWalk QuadWalkOf(const ElementOperands& operands, int arity, const ElementWalk& walk) {
  ElementWalk quads = walk;
  const int inner = walk.rank - 1;
  quads.count = 0;
  if (inner < 0 || !operands.AreFloats(arity)) return quads;
  if (inner > 0 && walk.extents[inner] % 4 != 0) return quads;
  for (int k = 0; k < arity; ++k) {
    int64_t& step = quads.strides[k][inner];
    if (operands.data[k] == nullptr || step == 0) continue;
    if (step != 1 || !IsAligned(operands.data[k])) return quads;
    step = 4;
    for (int axis = 0; axis < inner; ++axis) {
      if (walk.strides[k][axis] % 4 != 0) return quads;
    }
  }
  quads.extents[inner] /= 4;
  quads.count = inner > 0 ? walk.count / 4 : quads.extents[inner];
  return quads;
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
  return LaunchMap(c, map, operands, walk, output.dtype, output, req);
}

absl::Status RunBroadcastMap(const KernelContext& c, const ElementMap& map,
                             absl::Span<const ElemwiseOperand> operands,
                             absl::Span<const absl::Span<const int64_t>> shapes,
                             absl::Span<const int64_t> full, const ArrayView& output, WriteReq req,
                             std::optional<DType> computed_as) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  BroadcastPlan plan;
  if (!MakeBroadcastPlan(full, shapes, &plan)) {
    return absl::UnimplementedError(
        absl::StrCat("broadcast to ", output.shape.ToString(), ": too many axes"));
  }
  ElementWalk walk;
  for (int axis = 0; axis < plan.rank; ++axis) walk.Add(plan, axis, map.arity);
  return LaunchMap(c, map, operands, walk, computed_as.value_or(output.dtype), output, req);
}

}  // namespace cooper
