// Batch layouts of reductions.

#include <cstdint>

#include "absl/status/statusor.h"
#include "symbol/ops/reduce/broadcast_param.h"
#include "symbol/ops/reduce/reduce_axes.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;
constexpr int kMixed = BatchCall::kMixed;

// Reduces axes of input 0; `over_samples` is the result of a reduction over the samples.
BatchLayout Reduction(const BatchCall& c, const OptionalAxes& axes, bool exclude, bool keepdims,
                      Kind over_samples) {
  const absl::StatusOr<uint64_t> reduced = ReducedAxes(axes, exclude, c.rank(0));
  if (!reduced.ok()) return {};
  const auto is_reduced = [&](int axis) { return (*reduced >> axis & 1) != 0; };
  if (c.layouts[0].has_samples() && is_reduced(c.layouts[0].axis)) {
    return BatchLayout::Of(over_samples);
  }
  return c.Map([&](int, int axis) {
    int removed = 0;
    for (int i = 0; i < axis && !keepdims; ++i) removed += is_reduced(i) ? 1 : 0;
    return axis - removed;
  });
}

// A sum or a mean of sums (or means) over the samples keeps its kind.
BatchLayout LinearReduction(const BatchCall& c, Kind over_samples) {
  if (c.layouts[0].is_reduced()) return c.layouts[0];
  const auto& param = c.param<ReduceParam>();
  return Reduction(c, param.axis, param.exclude, param.keepdims, over_samples);
}
COOPER_BATCH_RULE(sum, [](const BatchCall& c) { return LinearReduction(c, Kind::kSum); });
COOPER_BATCH_RULE(mean, [](const BatchCall& c) { return LinearReduction(c, Kind::kMean); });

BatchLayout OtherReduction(const BatchCall& c, Kind over_samples) {
  const auto& param = c.param<ReduceParam>();
  return Reduction(c, param.axis, param.exclude, param.keepdims, over_samples);
}
COOPER_BATCH_RULE(nansum, [](const BatchCall& c) { return OtherReduction(c, Kind::kSum); });
const BatchRuleRegistrar kNonlinear({"prod", "nanprod", "max", "min"}, [](const BatchCall& c) {
  return OtherReduction(c, Kind::kUnknown);
});

COOPER_BATCH_RULE(norm, [](const BatchCall& c) {
  const auto& param = c.param<NormParam>();
  return Reduction(c, param.axis, /*exclude=*/false, param.keepdims, Kind::kUnknown);
});
COOPER_BATCH_RULE(moments, [](const BatchCall& c) {
  const auto& param = c.param<MomentsParam>();
  return Reduction(c, param.axes, /*exclude=*/false, param.keepdims,
                   c.output == MomentsArrays::kMean ? Kind::kMean : Kind::kUnknown);
});

const BatchRuleRegistrar kArgReductions({"argmax", "argmin"}, [](const BatchCall& c) {
  const auto& param = c.param<ArgReduceParam>();
  OptionalAxes axes;
  if (param.axis.has_value()) axes = {*param.axis};
  return Reduction(c, axes, /*exclude=*/false, param.keepdims, Kind::kUnknown);
});
COOPER_BATCH_RULE(argmax_channel, [](const BatchCall& c) {
  const int searched = c.rank(0) > 1 ? 1 : 0;
  return c.Map([&](int, int axis) {
    if (axis == searched) return kMixed;
    return axis < searched ? axis : axis - 1;
  });
});

COOPER_BATCH_RULE(_np_cumsum, [](const BatchCall& c) {
  const auto& axis = c.param<CumsumParam>().axis;
  return axis.has_value() ? c.AllBut(*axis) : BatchLayout();
});

const BatchRuleRegistrar kRepeated({"broadcast_axis", "broadcast_to"}, [](const BatchCall& c) {
  return c.layouts[0].is_reduced() ? c.layouts[0] : c.Aligned();
});
COOPER_BATCH_RULE(broadcast_like, [](const BatchCall& c) {
  const auto& param = c.param<BroadcastLikeParam>();
  const bool by_axes = param.lhs_axes.has_value() && param.rhs_axes.has_value();
  return by_axes ? BatchLayout() : c.Aligned();
});

}  // namespace
}  // namespace cooper
