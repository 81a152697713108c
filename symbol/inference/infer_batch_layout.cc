#include "symbol/inference/infer_batch_layout.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;

// A prime as the batch size: no other extent of a network is a multiple of it, so that shapes alone
// distinguish the batch axis from others.
constexpr int64_t kProbe = 100003;

// The shapes inferred for one batch size.
struct Probed {
  int64_t batch_size = 0;
  std::vector<Shape> shapes;  // by entry
};

absl::StatusOr<int64_t> BatchSizeOf(const std::map<std::string, BatchInput>& inputs) {
  const std::pair<const std::string, BatchInput>* first = nullptr;
  for (const auto& input : inputs) {
    const auto& [name, batch] = input;
    if (batch.axis < 0) continue;
    if (batch.axis >= batch.shape.rank()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name, "' ", batch.shape.ToString(), " has no axis ", batch.axis));
    }
    if (first == nullptr) first = &input;
    const int64_t size = batch.shape[batch.axis];
    const int64_t expected = first->second.shape[first->second.axis];
    if (size == expected) continue;
    return absl::InvalidArgumentError(absl::StrCat("input '", name, "' ", batch.shape.ToString(),
                                                   " has ", size, " samples, '", first->first,
                                                   "' has ", expected));
  }
  return first == nullptr ? 0 : first->second.shape[first->second.axis];
}

absl::StatusOr<Probed> Probe(const IndexedGraph& graph,
                             const std::map<std::string, BatchInput>& inputs, int64_t batch_size) {
  KnownShapes known;
  for (const auto& [name, input] : inputs) {
    Shape shape = input.shape;
    if (input.axis >= 0) shape[input.axis] = batch_size;
    known[name] = PartialShape(shape);
  }
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph, known));
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  COOPER_RETURN_IF_ERROR(CheckShapesComplete(graph, shapes));
  Probed probed = {.batch_size = batch_size};
  probed.shapes.reserve(shapes.size());
  for (const PartialShape& shape : shapes) {
    COOPER_ASSIGN_OR_RETURN(probed.shapes.emplace_back(), Shape::Create(shape.dims()));
  }
  return probed;
}

// Returns the layout that `__layout__` declares for an array of this shape; nullopt without a
// declaration, or if it contradicts the shape.
std::optional<BatchLayout> Declared(const Node& node, const Shape& shape, int64_t batch_size) {
  const auto layout = node.attrs().find("__layout__");
  if (layout == node.attrs().end()) return std::nullopt;
  const size_t at = layout->second.find('N');
  if (at == std::string::npos) return BatchLayout::Of(Kind::kNone);
  const int axis = static_cast<int>(at);
  if (axis >= shape.rank() || batch_size == 0 || shape[axis] % batch_size != 0) return std::nullopt;
  return BatchLayout::Samples(axis, 1, shape[axis] / batch_size);
}

// A declared axis overrides the found one, but not the merging of axes, nor an array without
// samples.
BatchLayout Reconcile(const BatchLayout& found, const std::optional<BatchLayout>& declared) {
  if (!declared.has_value()) return found;
  if (found.is_unknown()) return *declared;
  if (!declared->has_samples()) return found;
  return found.has_samples() && found.axis == declared->axis ? found : *declared;
}

// Returns the layout of a state: as declared, or else along the only axis with the extent kProbe.
BatchLayout OfState(const Node& variable, const Shape& shape, int64_t batch_size) {
  if (const auto declared = Declared(variable, shape, batch_size); declared.has_value()) {
    return *declared;
  }
  if (batch_size != kProbe) return {};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == kProbe) return BatchLayout::Samples(axis);
  }
  return BatchLayout::Of(Kind::kNone);
}

}  // namespace

bool SetOutputLayouts(const IndexedGraph& graph, int i, absl::Span<const Shape> shapes,
                      int64_t batch_size, absl::Span<BatchLayout> layouts) {
  const Node& node = *graph.nodes()[i];
  std::vector<Shape> input_shapes;
  std::vector<BatchLayout> input_layouts;
  bool varies = node.inputs().empty(), known = true;
  for (const NodeEntry& input : node.inputs()) {
    const int entry = graph.entry(input);
    input_shapes.push_back(shapes[entry]);
    input_layouts.push_back(layouts[entry]);
    varies = varies || layouts[entry].kind != Kind::kNone;
    known = known && !layouts[entry].is_unknown();
  }
  const int first = graph.first_entry(i);
  BatchCall call = {.call = node.call(),
                    .inputs = input_shapes,
                    .outputs = shapes.subspan(first, node.num_outputs()),
                    .layouts = input_layouts,
                    .batch_size = batch_size};
  for (int k = 0; k < node.num_outputs(); ++k) {
    call.output = k;
    BatchLayout found = varies ? BatchLayout() : BatchLayout::Of(Kind::kNone);
    if (known && varies) found = OutputLayout(call);
    if (!found.Fits(call.out(), batch_size)) found = {};
    // A declared layout does not apply to counted rows, which belong to some samples only.
    layouts[first + k] =
        CountsShapes(node) ? found : Reconcile(found, Declared(node, call.out(), batch_size));
  }
  return known && LossNeedsWeights(call);
}

absl::StatusOr<BatchLayouts> BatchLayouts::Infer(const Symbol& symbol,
                                                 const std::map<std::string, BatchInput>& inputs,
                                                 const std::set<std::string>& states) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(const int64_t batch_size, BatchSizeOf(inputs));
  absl::StatusOr<Probed> probed = Probe(graph, inputs, kProbe);
  // The graph may be valid for its own batch size only.
  if (!probed.ok()) probed = Probe(graph, inputs, batch_size);
  COOPER_RETURN_IF_ERROR(probed.status());

  BatchLayouts result;
  std::vector<BatchLayout> layouts(graph.num_entries());
  std::vector<int> lost(graph.num_nodes(), -1);  // the node at which the layout was lost; -1: none
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    const int first = graph.first_entry(i);
    if (node.is_variable()) {
      const Shape& shape = probed->shapes[first];
      layouts[first] = BatchLayout::Of(Kind::kNone);
      if (const auto input = inputs.find(node.name()); input != inputs.end()) {
        if (input->second.axis >= 0) layouts[first] = BatchLayout::Samples(input->second.axis);
      } else if (states.contains(node.name())) {
        layouts[first] = OfState(node, shape, probed->batch_size);
      }
      if (layouts[first].is_unknown()) lost[i] = i;
      result.variables_[node.name()] = layouts[first];
      continue;
    }
    for (const NodeEntry& input : node.inputs()) {
      if (layouts[graph.entry(input)].is_unknown() && lost[i] < 0) {
        lost[i] = lost[graph.node_index(input.node.get())];
      }
    }
    if (SetOutputLayouts(graph, i, probed->shapes, probed->batch_size, absl::MakeSpan(layouts))) {
      result.weighted_losses_.insert(&node);
    }
    for (int k = 0; k < node.num_outputs(); ++k) {
      if (layouts[first + k].is_unknown() && lost[i] < 0) lost[i] = i;
    }
  }
  for (const NodeEntry& output : symbol.outputs()) {
    result.outputs_.push_back(layouts[graph.entry(output)]);
    const int at = lost[graph.node_index(output.node.get())];
    const bool unknown = result.outputs_.back().is_unknown() && at >= 0;
    result.first_unknown_node_.push_back(unknown ? Describe(*graph.nodes()[at]) : "");
  }
  return result;
}

BatchLayout BatchLayouts::variable(const std::string& name) const {
  const auto it = variables_.find(name);
  return it == variables_.end() ? BatchLayout() : it->second;
}

absl::StatusOr<Symbol> WeightLosses(const Symbol& symbol, const std::set<const Node*>& losses,
                                    double weight) {
  if (losses.empty()) return symbol;
  absl::flat_hash_map<const Node*, NodePtr> replaced;
  for (const Node* node : TopologicalOrder(symbol.outputs())) {
    if (node->is_variable()) continue;
    Node::Fields fields = node->fields();
    bool changed = false;
    for (NodeEntry& input : fields.inputs) {
      const auto it = replaced.find(input.node.get());
      if (it == replaced.end()) continue;
      input.node = it->second;
      changed = true;
    }
    if (losses.contains(node)) {
      AttrMap attrs = node->attrs();
      double scale = 1;
      if (const auto given = attrs.find("grad_scale"); given != attrs.end()) {
        COOPER_RETURN_IF_ERROR(AddContext(ParseParamText(given->second, &scale), Describe(*node)));
      }
      attrs["grad_scale"] = PrintParamText(scale * weight);
      // make_loss is MakeLoss without parameters.
      const std::string op = IsOp(*node, "make_loss") ? "MakeLoss" : node->op()->name();
      COOPER_ASSIGN_OR_RETURN(fields.call, MakeOpCall(op, std::move(attrs), node->inputs().size()));
      changed = true;
    }
    if (!changed) continue;
    fields.variables = nullptr;
    fields.input_versions.reset();
    replaced[node] = Node::Make(std::move(fields));
  }
  std::vector<NodeEntry> outputs = symbol.outputs();
  for (NodeEntry& output : outputs) {
    const auto it = replaced.find(output.node.get());
    if (it != replaced.end()) output.node = it->second;
  }
  return Symbol(std::move(outputs));
}

}  // namespace cooper
