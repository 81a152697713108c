// Where detection keeps the samples of a batch.

#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// Anchors depend on an image's size alone.
COOPER_BATCH_RULE(_contrib_MultiBoxPrior, [](const BatchCall& c) {
  return c.FirstAxis().has_samples() ? BatchLayout::Of(BatchLayout::Kind::kNone) : BatchLayout();
});
const BatchRuleRegistrar kBoxes({"_contrib_MultiBoxTarget", "_contrib_MultiBoxDetection"},
                                [](const BatchCall& c) { return c.FirstAxis(); });
// Boxes and their numbers are the last two axes.
COOPER_BATCH_RULE(_contrib_box_nms, [](const BatchCall& c) {
  return c.Map([&](int, int axis) { return axis < c.rank(0) - 2 ? axis : BatchCall::kMixed; });
});

}  // namespace
}  // namespace cooper
