// Batch layouts of the detection operators.

#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// Anchors depend only on the size of the image.
COOPER_BATCH_RULE(_contrib_MultiBoxPrior, [](const BatchCall& c) {
  return c.FirstAxis().has_samples() ? BatchLayout::Of(BatchLayout::Kind::kNone) : BatchLayout();
});
const BatchRuleRegistrar kBoxes({"_contrib_MultiBoxTarget", "_contrib_MultiBoxDetection"},
                                [](const BatchCall& c) { return c.FirstAxis(); });
// The last two axes are the boxes and their numbers.
COOPER_BATCH_RULE(_contrib_box_nms, [](const BatchCall& c) {
  return c.Map([&](int, int axis) { return axis < c.rank(0) - 2 ? axis : BatchCall::kMixed; });
});

}  // namespace
}  // namespace cooper
