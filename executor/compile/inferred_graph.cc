#include "executor/compile/inferred_graph.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/counted_entries.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {
namespace {

ProgramVariable VariableOf(const TypedGraph& typed, const Node* node, const std::string& name) {
  const int entry = typed.graph->first_entry(typed.graph->node_index(node));
  return {.node = node,
          .name = name,
          .shape = typed.shapes[entry].ToShape(),
          .dtype = typed.types[entry].value_or(DType::kFloat32)};
}

// Numbers arguments and auxiliary states: gives each a slot.
void NumberVariables(const CompileOptions& options, InferredGraph& result) {
  const IndexedGraph& graph = *result.forward.graph;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node* node = graph.nodes()[i];
    if (!node->is_variable()) continue;
    (graph.is_aux(i) ? result.auxs : result.args)
        .push_back(VariableOf(result.forward, node, node->name()));
  }
  for (const auto& request : options.grad_reqs) {
    if (request.second == WriteReq::kNull) continue;
    const auto arg = absl::c_find_if(result.args, [&](const ProgramVariable& variable) {
      return variable.name == request.first;
    });
    const auto slot = static_cast<int>(arg - result.args.begin());
    result.gradients.push_back({.arg = slot, .value = -1, .req = request.second});
  }
}

// Gives slots to the values that passes have folded, behind those of the caller's arguments.
void NumberFolded(InferredGraph& result) {
  for (const GraphRewrite& rewrite : result.forward.rewrites) {
    for (const FoldedConstant& folded : rewrite.folded) {
      if (!result.forward.graph->contains(folded.variable.get())) continue;
      result.args.push_back(VariableOf(result.forward, folded.variable.get(), folded.name));
      result.folded.push_back(folded);
    }
  }
}

// Checks that each gradient has the shape and dtype of its argument, since it is written to an
// array like that of the argument.
absl::Status CheckGradients(const InferredGraph& graph) {
  for (size_t k = 0; k < graph.gradient.gradients.size(); ++k) {
    if (!graph.gradient.gradients[k]) continue;
    const ProgramVariable& arg = graph.args[graph.gradients[k].arg];
    const int entry = graph.whole->entry(graph.gradient.gradients[k]);
    if (graph.type(entry) == arg.dtype && graph.shapes[entry] == PartialShape(arg.shape)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the gradient of argument '", arg.name, "' is ", DTypeName(graph.type(entry)),
                     " ", graph.shapes[entry].ToString(), ", expected ", DTypeName(arg.dtype), " ",
                     arg.shape.ToString(), " as the argument is: ask for none (grad_req null)"));
  }
  return absl::OkStatus();
}

absl::Status AddGradients(InferredGraph& result) {
  const Symbol& symbol = result.forward.symbol;
  std::vector<std::string> wrt;
  for (const ProgramGradient& g : result.gradients) wrt.push_back(result.args[g.arg].name);
  if (!wrt.empty()) {
    COOPER_ASSIGN_OR_RETURN(result.gradient, MakeGradientGraph(symbol, wrt));
  }
  result.whole = std::make_unique<IndexedGraph>(WholeGraph(*result.forward.graph, result.gradient));
  const IndexedGraph& whole = *result.whole;
  COOPER_ASSIGN_OR_RETURN(result.shapes,
                          InferWholeShapes(symbol, result.gradient, whole, result.forward.shapes));
  result.types = result.forward.types;
  result.types.resize(whole.num_entries());
  for (size_t i = 0; i < result.gradient.head_gradients.size(); ++i) {
    const NodeEntry& head = result.gradient.head_gradients[i];
    if (head) result.types[whole.entry(head)] = result.types[whole.entry(symbol.outputs()[i])];
  }
  if (!result.gradient.nodes.empty()) {
    COOPER_RETURN_IF_ERROR(InferEntryTypes(whole, result.types));
  }
  result.counted = FindCountedEntries(whole, symbol, result.gradient, result.shapes);
  return CheckGradients(result);
}

}  // namespace

IndexedGraph WholeGraph(const IndexedGraph& forward, const GradientGraph& gradient) {
  std::vector<const Node*> order = forward.nodes();
  for (const NodeEntry& head : gradient.head_gradients) {
    if (head) order.push_back(head.node.get());
  }
  for (const NodePtr& node : gradient.nodes) order.push_back(node.get());
  return IndexedGraph(std::move(order));
}

absl::StatusOr<std::vector<PartialShape>> InferWholeShapes(
    const Symbol& symbol, const GradientGraph& gradient, const IndexedGraph& whole,
    std::vector<PartialShape> forward_shapes) {
  std::vector<PartialShape> shapes = std::move(forward_shapes);
  shapes.resize(whole.num_entries());
  // The gradient of an output has the output's shape.
  for (size_t i = 0; i < gradient.head_gradients.size(); ++i) {
    const NodeEntry& head = gradient.head_gradients[i];
    if (head) shapes[whole.entry(head)] = shapes[whole.entry(symbol.outputs()[i])];
  }
  if (gradient.nodes.empty()) return shapes;
  COOPER_RETURN_IF_ERROR(InferEntryShapes(whole, shapes));
  COOPER_RETURN_IF_ERROR(CheckShapesComplete(whole, shapes));
  return shapes;
}

absl::StatusOr<InferredGraph> InferGraph(const Symbol& symbol, const CompileOptions& options) {
  InferredGraph result;
  COOPER_ASSIGN_OR_RETURN(result.forward, InferTypedGraph(symbol, options));
  NumberVariables(options, result);
  COOPER_RETURN_IF_ERROR(RunGraphPasses(options, result.forward));
  NumberFolded(result);
  COOPER_RETURN_IF_ERROR(AddGradients(result));
  return result;
}

}  // namespace cooper
