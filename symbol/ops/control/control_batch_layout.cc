// Batch layout of _foreach: samples are on the same axis in each step, whatever the step. Loops and
// choices with a condition have no rule: the parts of a batch may decide differently.

#include <vector>

#include "absl/types/span.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "symbol/inference/infer_batch_layout.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/ops/control/foreach_body.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;

// Returns the shapes of the entries of the body; empty if they do not follow from the inputs'.
std::vector<Shape> ShapesOf(const ForeachBody& body, const BatchCall& c) {
  auto known = VariableShapes(body.graph(), {});
  if (!known.ok()) return {};
  for (int i = 0; i + 1 < body.param().num_args; ++i) {
    Shape shape = c.input(i);
    if (i < body.param().num_data()) {
      const auto dims = shape.dims();
      // The step of a vector has shape (1,).
      shape = shape.rank() == 1 ? Shape({1}) : Shape(dims.subspan(1));
    }
    (*known)[body.input_entry(i)] = PartialShape(shape);
  }
  if (!InferEntryShapes(body.graph(), *known).ok()) return {};
  std::vector<Shape> shapes;
  for (const PartialShape& shape : *known) {
    if (!shape.IsFull()) return {};
    shapes.push_back(shape.ToShape());
  }
  return shapes;
}

// Computes the layouts of the body's operators from those of its variables. Returns false if a loss
// in the body must be weighted, which is possible for losses outside of bodies only.
bool RunBody(const ForeachBody& body, const std::vector<Shape>& shapes, int64_t batch_size,
             std::vector<BatchLayout>& layouts) {
  for (int i = 0; i < body.graph().num_nodes(); ++i) {
    if (body.graph().nodes()[i]->is_variable()) continue;
    if (SetOutputLayouts(body.graph(), i, shapes, batch_size, absl::MakeSpan(layouts))) {
      return false;
    }
  }
  return true;
}

COOPER_BATCH_RULE(_foreach, [](const BatchCall& c) {
  const ForeachBody body(c.call);
  const ForeachParam& param = body.param();
  const std::vector<Shape> shapes = ShapesOf(body, c);
  if (shapes.empty()) return BatchLayout();
  std::vector<BatchLayout> layouts(shapes.size());
  for (int i = 0; i + 1 < param.num_args; ++i) {
    BatchLayout layout = c.layouts[i];
    // Parts of a batch along the axis of the steps would have fewer steps.
    if (i < param.num_data() && layout.has_samples() && layout.axis-- == 0) return BatchLayout();
    layouts[body.input_entry(i)] = layout;
  }
  const auto after = [&](int j) { return layouts[body.graph().entry(body.outputs()[j])]; };
  // A state that is the same for all samples before the loop may have samples after a step.
  for (bool changed = true; changed;) {
    if (!RunBody(body, shapes, c.batch_size, layouts)) return BatchLayout();
    changed = false;
    for (int k = 0; k < param.num_states(); ++k) {
      BatchLayout& before = layouts[body.input_entry(param.num_data() + k)];
      const BatchLayout state = after(param.num_out_data + k);
      if (state == before) continue;
      if (before.kind != Kind::kNone || state.is_unknown()) return BatchLayout();
      before = state;
      changed = true;
    }
  }
  BatchLayout layout = after(c.output);
  if (c.output < param.num_out_data && layout.has_samples()) ++layout.axis;
  return layout;
});

}  // namespace
}  // namespace cooper
