// Batch layouts of the detection operators.

#include "symbol/ops/detection/box_coding_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// Anchors depend only on the size of the image.
COOPER_BATCH_RULE(_contrib_MultiBoxPrior, [](const BatchCall& c) {
  return c.FirstAxis().has_samples() ? BatchLayout::Of(BatchLayout::Kind::kNone) : BatchLayout();
});
const BatchRuleRegistrar kBoxes({"_contrib_MultiBoxTarget", "_contrib_MultiBoxDetection"},
                                [](const BatchCall& c) { return c.FirstAxis(); });
// Means and deviations are shared, and so are the anchors of predictions.
COOPER_BATCH_RULE(_contrib_box_encode, [](const BatchCall& c) {
  return c.Map([](int input, int axis) {
    return axis == 0 && input < BoxEncodeArrays::kMeans ? 0 : BatchCall::kMixed;
  });
});
COOPER_BATCH_RULE(_contrib_box_decode, [](const BatchCall& c) {
  return c.Map([](int input, int axis) {
    return axis == 0 && input == BoxDecodeArrays::kData ? 0 : BatchCall::kMixed;
  });
});
// The last two axes are the rows and columns of scores.
COOPER_BATCH_RULE(_contrib_bipartite_matching, [](const BatchCall& c) {
  return c.Map([&](int, int axis) { return axis < c.rank(0) - 2 ? axis : BatchCall::kMixed; });
});
// The last two axes are the boxes and their numbers.
COOPER_BATCH_RULE(_contrib_box_nms, [](const BatchCall& c) {
  return c.Map([&](int, int axis) { return axis < c.rank(0) - 2 ? axis : BatchCall::kMixed; });
});

}  // namespace
}  // namespace cooper
