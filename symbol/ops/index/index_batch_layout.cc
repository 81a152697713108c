// Batch layouts of operators that look up, order or shift elements.

#include <cstdint>
#include <optional>

#include "symbol/ops/index/boolean_mask_param.h"
#include "symbol/ops/index/gather_nd_param.h"
#include "symbol/ops/index/ordering_param.h"
#include "symbol/ops/index/sequence_param.h"
#include "symbol/ops/index/take_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

constexpr int kMixed = BatchCall::kMixed;

// The axes of the indices replace the indexed axis.
COOPER_BATCH_RULE(take, [](const BatchCall& c) {
  using enum TakeArrays::Input;
  const int given = c.param<TakeParam>().axis;
  const int taken = given < 0 ? given + c.rank(kData) : given;
  // If data and indices both have samples, an index also selects elements of other samples.
  if (c.layouts[kData].has_samples() && c.layouts[kIndex].has_samples()) return BatchLayout();
  return c.Map([&](int input, int axis) {
    if (input == kIndex) return taken + axis;
    if (axis == taken) return kMixed;
    return axis < taken ? axis : axis - 1 + c.rank(kIndex);
  });
});

// The index has data's axes, with or without the indexed one.
COOPER_BATCH_RULE(pick, [](const BatchCall& c) {
  using enum TakeArrays::Input;
  const auto& param = c.param<PickParam>();
  if (!param.axis.has_value()) return BatchLayout();
  const int picked = *param.axis < 0 ? *param.axis + c.rank(kData) : *param.axis;
  return c.Map([&](int input, int axis) {
    if (input == kIndex && c.rank(kIndex) < c.rank(kData) && axis >= picked) ++axis;
    if (axis == picked) return kMixed;
    return param.keepdims || axis < picked ? axis : axis - 1;
  });
});

COOPER_BATCH_RULE(batch_take, [](const BatchCall& c) { return c.FirstAxis(); });

COOPER_BATCH_RULE(one_hot,
                  [](const BatchCall& c) { return c.Map([](int, int axis) { return axis; }); });

// The output has rows of samples if data's rows, or the mask, belong to samples.
COOPER_BATCH_RULE(_contrib_boolean_mask, [](const BatchCall& c) {
  const bool by_sample = c.layouts[BooleanMaskArrays::kIndex].has_samples();
  const BatchLayout& data = c.layouts[BooleanMaskArrays::kData];
  if (!by_sample && !(data.has_samples() && data.axis == 0)) return BatchLayout();
  return BatchLayout::Of(BatchLayout::Kind::kSomeSamples);
});

// Indices (number of axes, ...) into data that is the same for all samples.
COOPER_BATCH_RULE(gather_nd, [](const BatchCall& c) {
  return c.Map([](int input, int axis) {
    return input == GatherNdArrays::kIndices && axis > 0 ? axis - 1 : kMixed;
  });
});

template <typename Param>
BatchLayout Ordered(const BatchCall& c) {
  const std::optional<int>& axis = c.param<Param>().axis;
  return axis.has_value() ? c.AllBut(*axis) : BatchLayout();
}
COOPER_BATCH_RULE(topk, Ordered<TopKParam>);
COOPER_BATCH_RULE(sort, Ordered<SortParam>);
COOPER_BATCH_RULE(argsort, Ordered<ArgsortParam>);

// Returns the layout of the output of a sequence operator. data is (length, batch, ...), or (batch,
// length, ...) with axis 1. Without lengths, the samples may also be on later axes.
BatchLayout Sequence(const BatchCall& c, const SequenceParam& param, bool drops_time) {
  using enum SequenceArrays::Input;
  const int batch = 1 - param.axis;
  return c.Map([&](int input, int axis) {
    if (input == kLength) return axis != 0 ? kMixed : drops_time ? 0 : batch;
    if (axis == param.axis || (param.use_sequence_length && axis != batch)) return kMixed;
    return drops_time && axis > param.axis ? axis - 1 : axis;
  });
}
COOPER_BATCH_RULE(SequenceMask, [](const BatchCall& c) {
  return Sequence(c, c.param<SequenceMaskParam>(), /*drops_time=*/false);
});
COOPER_BATCH_RULE(SequenceReverse, [](const BatchCall& c) {
  return Sequence(c, c.param<SequenceReverseParam>(), /*drops_time=*/false);
});
COOPER_BATCH_RULE(SequenceLast, [](const BatchCall& c) {
  return Sequence(c, c.param<SequenceParam>(), /*drops_time=*/true);
});

}  // namespace
}  // namespace cooper
