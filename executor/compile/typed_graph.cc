#include "executor/compile/typed_graph.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/compile/counted_entries.h"
#include "executor/compile/passes.h"
#include "executor/passes/graph/expand_control_flow.h"
#include "executor/passes/graph/expand_int8_layers.h"
#include "executor/passes/graph/expand_numpy.h"
#include "executor/passes/graph/expand_projection.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/program/kernel.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/gradient.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// Checks that the names in options.shapes and options.types are names of variables.
absl::Status CheckNames(const IndexedGraph& graph, const CompileOptions& options) {
  std::vector<absl::string_view> args;
  std::vector<absl::string_view> variables;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (!graph.nodes()[i]->is_variable()) continue;
    variables.push_back(graph.nodes()[i]->name());
    if (!graph.is_aux(i)) args.push_back(variables.back());
  }
  const auto check = [](const auto& named, const std::vector<absl::string_view>& names,
                        absl::string_view what, absl::string_view kind) -> absl::Status {
    for (const auto& [name, value] : named) {
      if (absl::c_linear_search(names, name)) continue;
      return absl::NotFoundError(absl::StrCat(what, " for '", name, "', which is not ", kind,
                                              " of the graph; the names are ", JoinNames(names),
                                              DidYouMean(name, names)));
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(check(options.shapes, variables, "a shape is given", "a variable"));
  COOPER_RETURN_IF_ERROR(check(options.types, variables, "a type is given", "a variable"));
  for (const std::string& name : options.constants) {
    if (absl::c_linear_search(variables, name)) continue;
    return absl::NotFoundError(absl::StrCat("'", name,
                                            "' is to be a constant, but no argument or auxiliary "
                                            "state",
                                            DidYouMean(name, variables)));
  }
  return check(options.grad_reqs, args, "a gradient is requested", "an argument");
}

absl::Status InferShapes(TypedGraph& typed) {
  COOPER_RETURN_IF_ERROR(InferEntryShapes(*typed.graph, typed.shapes));
  return CheckShapesComplete(*typed.graph, typed.shapes);
}

// Returns by entry whether its shape depends on values.
std::vector<bool> CountedEntries(const TypedGraph& typed) {
  return FindCountedEntries(*typed.graph, typed.symbol, GradientGraph(), typed.shapes);
}

// Returns whether the node holds a graph, or ExpandAll replaces it by one that depends on shapes.
bool IsUnrolled(const Node& node) {
  return node.op()->num_subgraphs() > 0 || IsComposed(node) ||
         (IsOp(node, "RNN") && node.call().param<RNNParam>().projection_size.has_value());
}

// Returns whether the node takes what leaves a branch or a step that may not run.
bool TakesResult(const Node& node) { return IsOp(node, "_select") || IsOp(node, "_keep_if"); }

// Fails if a node that will be unrolled, or one that takes the result of a branch or a step, reads
// an array whose shape depends on values.
absl::Status CheckUnrolled(const TypedGraph& typed) {
  const std::vector<bool> counted = CountedEntries(typed);
  for (const Node* node : typed.graph->nodes()) {
    if (node->is_variable() || (!IsUnrolled(*node) && !TakesResult(*node))) continue;
    const int input = CountedInput(*typed.graph, counted, *node);
    if (input < 0) continue;
    return CountedInputError(*node, input,
                             TakesResult(*node)
                                 ? ", and it has none if its branch or step does not run: compute "
                                   "a result of a fixed shape there"
                                 : ", and its graph is unrolled before they are known: make that "
                                   "array an output, and give it to a graph of its own");
  }
  return absl::OkStatus();
}

bool HasGradients(const CompileOptions& options) {
  return absl::c_any_of(options.grad_reqs,
                        [](const auto& named) { return named.second != WriteReq::kNull; });
}

// Returns whether the pass may insert the operator. Without gradients, gradient operators need no
// kernel.
bool CanRun(absl::string_view op, const CompileOptions& options) {
  if (!HasGradients(options) && absl::StartsWith(op, "_backward")) return true;
  const auto schema = FindOp(op);
  if (!schema.ok()) return false;
  return (*schema)->is_view() || FindKernel(op, options.context.device_type).ok();
}

GraphFacts FactsOf(const TypedGraph& typed, const CompileOptions& options) {
  std::vector<Shape> shapes;
  std::vector<DType> types;
  for (const PartialShape& shape : typed.shapes) shapes.push_back(shape.ToShape());
  for (const auto& type : typed.types) types.push_back(type.value_or(DType::kFloat32));
  return GraphFacts(typed.symbol, std::move(shapes), std::move(types), HasGradients(options),
                    options.constants);
}

absl::Status TakeRewrite(const GraphFacts& old, GraphRewrite rewrite, TypedGraph& typed) {
  for (const auto& [copy, node] : rewrite.copies) {
    if (const auto id = typed.ids.find(node); id != typed.ids.end()) {
      const int number = id->second;
      typed.ids[copy.get()] = number;
    }
  }
  typed.symbol = rewrite.symbol;
  typed.graph = std::make_unique<IndexedGraph>(typed.symbol.outputs());
  typed.shapes.assign(typed.graph->num_entries(), PartialShape());
  typed.types.assign(typed.graph->num_entries(), std::nullopt);
  // Copies the shapes and types of the entries that remain, which may have been inferred from nodes
  // that the rewrite removed. Those of new entries are inferred from them.
  for (int i = 0; i < old.graph().num_nodes(); ++i) {
    for (int k = 0; k < old.node(i).num_outputs(); ++k) {
      const NodeEntry& entry = rewrite.entries[old.graph().first_entry(i) + k];
      if (!entry || !typed.graph->contains(entry.node.get())) continue;
      const NodeEntry before{old.owner(i), k};
      typed.shapes[typed.graph->entry(entry)] = PartialShape(old.shape(before));
      typed.types[typed.graph->entry(entry)] = old.type(before);
    }
  }
  for (int& at : typed.entry_of_written) {
    if (at < 0) continue;
    const NodeEntry& entry = rewrite.entries[at];
    const bool stays = entry && typed.graph->contains(entry.node.get());
    at = stays ? typed.graph->entry(entry) : -1;
  }
  typed.rewrites.push_back(std::move(rewrite));
  COOPER_RETURN_IF_ERROR(InferShapes(typed));
  return InferEntryTypes(*typed.graph, typed.types);
}

bool HasControlFlow(const IndexedGraph& graph) {
  return absl::c_any_of(graph.nodes(), [](const Node* node) { return IsControlFlow(*node); });
}

// Returns whether a context is a GPU. FindConditions then lists no conditions, so graphs under a
// condition always run.
bool UsesGpu(const CompileOptions& options) {
  return !options.context.is_cpu() || absl::c_any_of(options.group2ctx, [](const auto& named) {
    return !named.second.is_cpu();
  });
}

// Numbers the nodes that have no number yet, each on its own, so that copies of one random node
// draw different numbers.
void NumberNewNodes(TypedGraph& typed) {
  auto next = static_cast<int>(typed.ids.size());
  for (const Node* node : typed.graph->nodes()) {
    if (typed.ids.try_emplace(node, next).second) ++next;
  }
}

// Replaces what an expansion that is no optional pass returns.
absl::Status ExpandBy(absl::StatusOr<std::optional<GraphRewrite>> (*expand)(const GraphFacts&),
                      const CompileOptions& options, TypedGraph& typed) {
  const GraphFacts facts = FactsOf(typed, options);
  COOPER_ASSIGN_OR_RETURN(std::optional<GraphRewrite> rewrite, expand(facts));
  if (!rewrite.has_value()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(TakeRewrite(facts, *std::move(rewrite), typed));
  NumberNewNodes(typed);
  return absl::OkStatus();
}

// Replaces control flow, then that inside it, then int8 layers, RNN nodes with projections and
// NumPy operators. Fails if one of them reads an array whose shape depends on values.
absl::Status ExpandAll(const CompileOptions& options, TypedGraph& typed) {
  COOPER_RETURN_IF_ERROR(CheckUnrolled(typed));
  while (HasControlFlow(*typed.graph)) {
    const GraphFacts facts = FactsOf(typed, options);
    COOPER_ASSIGN_OR_RETURN(std::optional<GraphRewrite> rewrite,
                            ExpandControlFlow(facts, UsesGpu(options)));
    if (!rewrite.has_value()) break;
    COOPER_RETURN_IF_ERROR(TakeRewrite(facts, *std::move(rewrite), typed));
    NumberNewNodes(typed);
    COOPER_RETURN_IF_ERROR(CheckUnrolled(typed));  // a body may count shapes too
  }
  if (absl::c_any_of(typed.graph->nodes(), [](const Node* node) { return IsInt8Layer(*node); })) {
    COOPER_RETURN_IF_ERROR(ExpandBy(ExpandInt8Layers, options, typed));
  }
  if (absl::c_any_of(typed.graph->nodes(), [](const Node* node) { return IsOp(*node, "RNN"); })) {
    COOPER_RETURN_IF_ERROR(ExpandBy(ExpandProjection, options, typed));
  }
  if (absl::c_any_of(typed.graph->nodes(), [](const Node* node) { return IsComposed(*node); })) {
    COOPER_RETURN_IF_ERROR(ExpandBy(ExpandNumpy, options, typed));
  }
  typed.expanded = typed.symbol;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TypedGraph> InferTypedGraph(const Symbol& symbol, const CompileOptions& options) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  TypedGraph typed{.written = symbol,
                   .symbol = symbol,
                   .graph = std::make_unique<IndexedGraph>(symbol.outputs()),
                   .shapes = {},
                   .types = {},
                   .entry_of_written = {},
                   .expanded = {},
                   .ids = {},
                   .rewrites = {}};
  const IndexedGraph& graph = *typed.graph;
  COOPER_RETURN_IF_ERROR(CheckNames(graph, options));
  typed.entry_of_written.resize(graph.num_entries());
  absl::c_iota(typed.entry_of_written, 0);
  for (int i = 0; i < graph.num_nodes(); ++i) typed.ids[graph.nodes()[i]] = i;
  COOPER_ASSIGN_OR_RETURN(typed.shapes, VariableShapes(graph, options.shapes));
  COOPER_RETURN_IF_ERROR(InferShapes(typed));
  COOPER_ASSIGN_OR_RETURN(typed.types, VariableTypes(graph, options.types));
  COOPER_RETURN_IF_ERROR(InferEntryTypes(graph, typed.types));
  for (int i = 0; i < graph.num_nodes(); ++i) {
    std::optional<DType>& type = typed.types[graph.first_entry(i)];
    if (type.has_value() || !graph.nodes()[i]->is_variable()) continue;
    type = DType::kFloat32;
    COOPER_RETURN_IF_ERROR(InferEntryTypes(graph, typed.types));
  }
  COOPER_RETURN_IF_ERROR(ExpandAll(options, typed));
  return typed;
}

absl::Status RunGraphPasses(const CompileOptions& options, TypedGraph& typed) {
  if (!options.group2ctx.empty()) return absl::OkStatus();
  // Shapes that are equal now may differ in a run.
  const std::vector<bool> counted = CountedEntries(typed);
  const auto reads_counted = [&](const Node* node) {
    return CountedInput(*typed.graph, counted, *node) >= 0;
  };
  if (absl::c_linear_search(counted, true) && absl::c_any_of(typed.graph->nodes(), reads_counted)) {
    return absl::OkStatus();
  }
  std::optional<GraphFacts> facts;  // kept while passes change nothing
  for (const Pass& pass : AllPasses()) {
    if (pass.over_graph == nullptr || options.disabled_passes.contains(pass.name)) continue;
    if (!facts.has_value()) facts.emplace(FactsOf(typed, options));
    auto rewrite =
        pass.over_graph(*facts, [&](absl::string_view op) { return CanRun(op, options); });
    absl::Status status = rewrite.status();
    if (status.ok() && rewrite->has_value()) {
      status = TakeRewrite(*facts, **std::move(rewrite), typed);
      facts.reset();
    }
    COOPER_RETURN_IF_ERROR(AddContext(status, "graph pass '", pass.name, "'"));
  }
  return absl::OkStatus();
}

}  // namespace cooper
