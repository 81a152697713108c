// Batch layouts of operators that repeat, reverse or pad. Views, transposes, splits and joins need
// no rule: their schemas are sufficient.

#include <cstdint>

#include "symbol/ops/shape/pad_param.h"
#include "symbol/ops/shape/tile_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

constexpr int kMixed = BatchCall::kMixed;

COOPER_BATCH_RULE(tile, [](const BatchCall& c) {
  const auto& reps = c.param<TileParam>().reps;
  BatchLayout tiled = c.Aligned();
  if (!tiled.has_samples()) return tiled;
  const int at = tiled.axis - (c.out().rank() - static_cast<int>(reps.size()));
  if (at >= 0) tiled.outer *= reps[at];
  return tiled;
});

COOPER_BATCH_RULE(repeat, [](const BatchCall& c) {
  const auto& param = c.param<RepeatParam>();
  if (!c.layouts[0].has_samples()) return BatchLayout();
  BatchLayout repeated = c.layouts[0];
  if (param.axis.has_value()) {
    const int axis = *param.axis < 0 ? *param.axis + c.rank(0) : *param.axis;
    if (axis == repeated.axis) repeated.inner *= param.repeats;
    return repeated;
  }
  repeated = c.View(0, Shape({c.input(0).num_elements()}));
  repeated.inner *= param.repeats;
  return repeated;
});

COOPER_BATCH_RULE(reverse, [](const BatchCall& c) {
  const auto& param = c.param<ReverseParam>();
  return c.Map([&](int, int axis) { return param.reverses(axis, c.rank(0)) ? kMixed : axis; });
});

COOPER_BATCH_RULE(Pad, [](const BatchCall& c) {
  const auto& width = c.param<PadParam>().pad_width;
  return c.Map([&](int, int axis) {
    return width[2 * axis] == 0 && width[2 * axis + 1] == 0 ? axis : kMixed;
  });
});

const BatchRuleRegistrar kBlocks({"depth_to_space", "space_to_depth"},
                                 [](const BatchCall& c) { return c.FirstAxis(); });

}  // namespace
}  // namespace cooper
