// Batch layouts of elementwise operators, beyond their schemas: linear operators pass on sums and
// means over samples.

#include "symbol/ops/elemwise/init_param.h"
#include "symbol/ops/elemwise/make_loss_param.h"
#include "symbol/ops/elemwise/where_arrays.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;
constexpr int kMixed = BatchCall::kMixed;

BatchLayout Linear(const BatchCall& c) { return c.any_reduced() ? c.Reduced() : c.Aligned(); }

const BatchRuleRegistrar kLinear({"negative", "_mul_scalar", "_div_scalar", "degrees", "radians",
                                  "Cast", "amp_cast", "elemwise_add", "elemwise_sub", "_grad_add",
                                  "add_n", "broadcast_add", "broadcast_sub"},
                                 Linear);

// An added number is the same for all samples: means are passed on, sums are not.
const BatchRuleRegistrar kAffine({"_plus_scalar", "_minus_scalar", "_rminus_scalar"},
                                 [](const BatchCall& c) {
                                   if (c.layouts[0].kind == Kind::kMean) return c.layouts[0];
                                   return c.Aligned();
                                 });

// One factor may be a sum or a mean if the other one is the same for all samples.
const BatchRuleRegistrar kProducts({"elemwise_mul", "broadcast_mul"}, [](const BatchCall& c) {
  for (const int i : {0, 1}) {
    const bool other_is_none = c.layouts[1 - i].kind == Kind::kNone;
    if (c.layouts[i].is_reduced() && other_is_none) return c.layouts[i];
  }
  return c.Aligned();
});
const BatchRuleRegistrar kQuotients({"elemwise_div", "broadcast_div"}, [](const BatchCall& c) {
  if (c.layouts[0].is_reduced() && c.layouts[1].kind == Kind::kNone) return c.layouts[0];
  return c.Aligned();
});

COOPER_BATCH_RULE(amp_multicast, [](const BatchCall& c) { return c.layouts[c.output]; });

// A condition with one axis selects rows.
COOPER_BATCH_RULE(where, [](const BatchCall& c) {
  const bool by_rows = c.rank(WhereArrays::kCondition) != c.rank(WhereArrays::kX);
  return c.Map([&](int input, int axis) {
    return by_rows && input == WhereArrays::kCondition && axis != 0 ? kMixed : axis;
  });
});

// With infer_range the values may run along the batch axis, so the layout is unknown.
COOPER_BATCH_RULE(_arange, [](const BatchCall& c) {
  return c.param<ArangeParam>().infer_range ? BatchLayout() : BatchLayout::Of(Kind::kNone);
});
COOPER_BATCH_RULE(_contrib_arange_like, [](const BatchCall& c) {
  const auto& axis = c.param<ArangeLikeParam>().axis;
  if (!axis.has_value() || !c.layouts[0].has_samples()) return BatchLayout();
  const int64_t counted = *axis < 0 ? *axis + c.rank(0) : *axis;
  return counted == c.layouts[0].axis ? BatchLayout() : BatchLayout::Of(Kind::kNone);
});

// Normalization "batch" divides by all extents but the last.
const LossRuleRegistrar kMakeLossDivides({"MakeLoss"}, [](const BatchCall& c) {
  return c.param<MakeLossParam>().normalization == MakeLossNormalization::kBatch &&
         c.layouts[0].has_samples() && c.layouts[0].axis < c.rank(0) - 1;
});
const LossRuleRegistrar kOldMakeLossDivides({"make_loss"}, [](const BatchCall&) { return false; });

}  // namespace
}  // namespace cooper
