// Batch layouts of NumPy operators, beyond their schemas: linear operators pass on sums and means
// over samples, and reductions remove or combine axes.

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/ops/numpy/contraction.h"
#include "symbol/ops/numpy/reduction_param.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;

const BatchRuleRegistrar kLinear({"_npi_negative", "_npi_multiply_scalar",
                                  "_npi_true_divide_scalar", "_npi_add", "_npi_subtract"},
                                 [](const BatchCall& c) {
                                   return c.any_reduced() ? c.Reduced() : c.Aligned();
                                 });

// An added number is the same for all samples: means are passed on, sums are not.
const BatchRuleRegistrar kAffine({"_npi_add_scalar", "_npi_subtract_scalar",
                                  "_npi_rsubtract_scalar"},
                                 [](const BatchCall& c) {
                                   if (c.layouts[0].kind == Kind::kMean) return c.layouts[0];
                                   return c.Aligned();
                                 });

const BatchRuleRegistrar kBroadcast({"_npi_where", "_npi_where_lscalar", "_npi_where_rscalar",
                                     "_npi_where_scalar2", "_npi_full_like"},
                                    [](const BatchCall& c) { return c.Aligned(); });
COOPER_BATCH_RULE(_npi_broadcast_to, [](const BatchCall& c) {
  return c.layouts[0].is_reduced() ? c.layouts[0] : c.Aligned();
});

// Reduces axes of input 0; `over_samples` is the result of a reduction over the samples.
BatchLayout Reduction(const BatchCall& c, const OptionalAxes& axes, bool keepdims,
                      Kind over_samples) {
  const absl::StatusOr<uint64_t> reduced = NumpyReducedAxes(axes, c.rank(0));
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
template <typename Param>
BatchLayout LinearReduction(const BatchCall& c, Kind over_samples) {
  if (c.layouts[0].is_reduced()) return c.layouts[0];
  return Reduction(c, c.param<Param>().axis, c.param<Param>().keepdims, over_samples);
}
COOPER_BATCH_RULE(_np_sum,
                  [](const BatchCall& c) { return LinearReduction<NumpySumParam>(c, Kind::kSum); });
COOPER_BATCH_RULE(_npi_mean, [](const BatchCall& c) {
  return LinearReduction<NumpySumParam>(c, Kind::kMean);
});

template <typename Param>
BatchLayout OtherReduction(const BatchCall& c) {
  return Reduction(c, c.param<Param>().axis, c.param<Param>().keepdims, Kind::kUnknown);
}
COOPER_BATCH_RULE(_np_prod, OtherReduction<NumpySumParam>);
const BatchRuleRegistrar kExtremes({"_np_max", "_np_min"}, OtherReduction<NumpyReduceParam>);
const BatchRuleRegistrar kMoments({"_npi_var", "_npi_std"}, OtherReduction<NumpyMomentsParam>);
COOPER_BATCH_RULE(_npi_norm, OtherReduction<NumpyNormParam>);

const BatchRuleRegistrar kArgReductions({"_npi_argmax", "_npi_argmin"}, [](const BatchCall& c) {
  const auto& param = c.param<ArgReduceParam>();
  OptionalAxes axes;
  if (param.axis.has_value()) axes = {*param.axis};
  return Reduction(c, axes, param.keepdims, Kind::kUnknown);
});

// Samples stay on the axis with their label; a sum over that label mixes them.
template <typename LabelsFn>
BatchLayout ProductLayout(const BatchCall& c, LabelsFn labels) {
  const std::vector<PartialShape> shapes(c.inputs.begin(), c.inputs.end());
  const absl::StatusOr<Contraction> contraction = labels(shapes);
  if (!contraction.ok()) return {};
  return c.Map([&](int input, int axis) {
    const int label = contraction->operands[input][axis];
    const auto at = absl::c_find(contraction->output, label);
    if (label == kNoLabel || at == contraction->output.end()) return BatchCall::kMixed;
    return static_cast<int>(at - contraction->output.begin());
  });
}
COOPER_BATCH_RULE(_np_dot, [](const BatchCall& c) { return ProductLayout(c, DotLabels); });
COOPER_BATCH_RULE(_npi_matmul, [](const BatchCall& c) { return ProductLayout(c, MatmulLabels); });
COOPER_BATCH_RULE(_npi_tensordot, [](const BatchCall& c) {
  return ProductLayout(c, [&](Shapes s) { return TensordotLabels(c.param<TensordotParam>(), s); });
});
COOPER_BATCH_RULE(_npi_tensordot_int_axes, [](const BatchCall& c) {
  const auto& param = c.param<TensordotIntAxesParam>();
  return ProductLayout(c, [&](Shapes s) { return TensordotLabels(param, s); });
});
COOPER_BATCH_RULE(_npi_einsum, [](const BatchCall& c) {
  return ProductLayout(c, [&](Shapes s) { return EinsumLabels(c.param<EinsumParam>(), s); });
});

}  // namespace
}  // namespace cooper
