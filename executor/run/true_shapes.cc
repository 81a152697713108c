#include "executor/run/true_shapes.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/inferred_graph.h"
#include "executor/program/program.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/node_shapes.h"
#include "symbol/schema/counted_shapes.h"

namespace cooper {

std::unique_ptr<TrueShapes> TrueShapes::Create(const CompiledProgram& compiled) {
  const auto counted = [](const ProgramValue& value) { return value.counted; };
  if (absl::c_none_of(compiled.program().values, counted)) return nullptr;
  return absl::WrapUnique(new TrueShapes(compiled));
}

TrueShapes::TrueShapes(const CompiledProgram& compiled)
    : compiled_(compiled),
      graph_(WholeGraph(IndexedGraph(compiled.lowered_symbol().outputs()), compiled.gradient())),
      shapes_(graph_.num_entries()),
      depends_(graph_.num_nodes(), false),
      output_of_head_(graph_.num_nodes(), -1) {
  const std::vector<NodeEntry>& heads = compiled.gradient().head_gradients;
  for (size_t i = 0; i < heads.size(); ++i) {
    if (!heads[i]) continue;
    output_of_head_[graph_.node_index(heads[i].node.get())] =
        graph_.entry(compiled.lowered_symbol().outputs()[i]);
  }
  const auto depends = [this](const Node* node) {
    return graph_.contains(node) && depends_[graph_.node_index(node)];
  };
  for (int i = 0; i < graph_.num_nodes(); ++i) {
    const Node& node = *graph_.nodes()[i];
    depends_[i] = CountsShapes(node) || output_of_head_[i] >= 0 || depends(node.forward().get()) ||
                  absl::c_any_of(node.inputs(),
                                 [&](const NodeEntry& input) { return depends(input.node.get()); });
  }
  const Program& p = compiled.program();
  for (const ProgramValue& value : p.values) {
    entries_.push_back(graph_.entry(value.entry));
    shapes_[entries_.back()] = value.shape;
  }
  steps_.resize(p.instructions.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Instruction& instruction = p.instructions[i];
    const Node* const node = instruction.node.get();
    steps_[i].node = graph_.contains(node) ? graph_.node_index(node) : -1;
    steps_[i].counted = p.HasCountedValues(instruction);
  }
}

void TrueShapes::Forget() {
  next_ = 0;
  for (int i = 0; i < graph_.num_nodes(); ++i) {
    if (!depends_[i]) continue;
    for (int e = graph_.first_entry(i); e < graph_.first_entry(i + 1); ++e) {
      shapes_[e] = PartialShape();
    }
  }
}

absl::Status TrueShapes::InferTo(int end) {
  for (; next_ < end; ++next_) {
    // The shapes of a node that counts are inferred before it runs, and read afterwards.
    if (!depends_[next_] || CountsShapes(*graph_.nodes()[next_])) continue;
    if (output_of_head_[next_] >= 0) {
      shapes_[graph_.first_entry(next_)] = shapes_[output_of_head_[next_]];
    } else {
      COOPER_RETURN_IF_ERROR(InferNodeShapes(graph_, next_, shapes_));
    }
  }
  return absl::OkStatus();
}

absl::Status TrueShapes::SetShape(const Instruction& instruction, int value, ArrayView& view,
                                  bool* changed) const {
  const ProgramValue& planned = compiled_.program().values[value];
  const PartialShape& known = shapes_[entries_[value]];
  // The caller's array of a gradient has the planned shape.
  const ProgramBuffer& buffer = compiled_.program().buffers[planned.buffer];
  const bool varies = planned.counted && buffer.kind != ProgramBuffer::Kind::kGrad;
  const bool fits = varies ? known.num_elements() <= planned.shape.num_elements()
                           : known == PartialShape(planned.shape);
  if (!known.IsFull() || !fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(instruction), ": '", planned.entry.node->name(), "' has shape ", known.ToString(),
        " in this run, and memory is planned for ", planned.shape.ToString()));
  }
  const Shape shape = known.ToShape();
  *changed = *changed || !(view.shape == shape);
  view.shape = shape;
  return absl::OkStatus();
}

absl::Status TrueShapes::Prepare(int i, absl::Span<ArrayView> inputs, absl::Span<ArrayView> outputs,
                                 KernelContext& context) {
  Step& step = steps_[i];
  if (!step.counted) return absl::OkStatus();
  const Instruction& instruction = compiled_.program().instructions[i];
  if (step.node >= 0) {
    const bool counts = CountsShapes(*instruction.node);
    COOPER_RETURN_IF_ERROR(InferTo(step.node + (counts ? 0 : 1)));
    if (counts) COOPER_RETURN_IF_ERROR(InferNodeShapes(graph_, step.node, shapes_));
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    COOPER_RETURN_IF_ERROR(SetShape(instruction, instruction.inputs[k], inputs[k], &step.stale));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    COOPER_RETURN_IF_ERROR(SetShape(instruction, instruction.outputs[k], outputs[k], &step.stale));
  }
  if (!instruction.run || instruction.copy_from >= 0) return absl::OkStatus();
  if (step.stale) {
    COOPER_ASSIGN_OR_RETURN(step.prepared, compiled_.PrepareFor(i, inputs, outputs));
    context.state = step.prepared.state.get();
    const int64_t bytes = step.prepared.workspace_bytes;
    if (bytes > compiled_.step(i).prepared.workspace_bytes && bytes > step.workspace.size_bytes()) {
      COOPER_ASSIGN_OR_RETURN(step.workspace,
                              NDArray::Empty({bytes}, DType::kUint8, context.context));
    }
    step.stale = false;
  }
  if (!step.workspace.is_null()) context.workspace = step.workspace.raw_data();
  return absl::OkStatus();
}

void TrueShapes::Read(int i, absl::Span<const ArrayView> outputs) {
  const int node = steps_[i].node;
  if (!steps_[i].counted || node < 0 || !CountsShapes(*graph_.nodes()[node])) return;
  const auto* extents = outputs.back().as<int64_t>();
  for (size_t k = 0; k + 1 < outputs.size(); ++k) {
    PartialShape& shape = shapes_[graph_.first_entry(node) + static_cast<int>(k)];
    const int rank = outputs[k].shape.rank();
    shape = PartialShape(absl::MakeConstSpan(extents, rank));
    extents += rank;
  }
}

Shape TrueShapes::ShapeOf(int value) const {
  const PartialShape& known = shapes_[entries_[value]];
  return known.IsFull() ? known.ToShape() : compiled_.program().values[value].shape;
}

}  // namespace cooper
