#include "executor/compile/lower.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/compile/graph_passes/graph_facts.h"
#include "executor/compile/graph_passes/graph_passes.h"
#include "executor/compile/placement.h"
#include "ndarray/partial_shape.h"
#include "ndarray/status_macros.h"
#include "symbol/gradient.h"
#include "symbol/indexed_graph.h"

namespace cooper {
namespace {

using Type = std::optional<DType>;

class Lowering {
 public:
  Lowering(const Symbol& symbol, const LowerOptions& options)
      : written_(symbol),
        symbol_(symbol),
        options_(options),
        forward_(std::make_unique<IndexedGraph>(symbol_.outputs())) {}

  absl::StatusOr<LoweredProgram> Run() {
    NumberVariables();
    COOPER_RETURN_IF_ERROR(CheckGradientNames());
    COOPER_RETURN_IF_ERROR(InferForward());
    TakeVariableShapes();
    COOPER_RETURN_IF_ERROR(RunGraphPasses());
    COOPER_RETURN_IF_ERROR(AddGradients());
    COOPER_RETURN_IF_ERROR(InferGradients());
    MarkNeeded();
    FindLeftToGradients();
    placement_ = PlaceNodes(*graph_, options_.group2ctx, options_.context);
    program().contexts = placement_.contexts;
    Emit();
    return std::move(result_);
  }

 private:
  Program& program() { return result_.program; }
  const Program& program() const { return result_.program; }

  // Gives arguments and auxiliary states their slots, in the order in which the caller's symbol
  // lists them, and its nodes their numbers.
  void NumberVariables() {
    for (int i = 0; i < forward_->num_nodes(); ++i) {
      const Node* node = forward_->nodes()[i];
      ids_[node] = i;
      if (!node->is_variable()) continue;
      auto& names = forward_->is_aux(i) ? program().aux_names : program().arg_names;
      slots_[node] = static_cast<int>(names.size());
      names.push_back(node->name());
    }
  }

  absl::Status CheckGradientNames() {
    for (const auto& [name, req] : options_.grad_reqs) {
      const auto& names = program().arg_names;
      const auto it = std::find(names.begin(), names.end(), name);
      if (it == names.end()) {
        return absl::NotFoundError(absl::StrCat("a gradient is asked for '", name,
                                                "', which is no argument; those are ",
                                                absl::StrJoin(names, ", ")));
      }
      if (req == WriteReq::kNull) continue;
      program().gradients.push_back(
          {.arg = static_cast<int>(it - names.begin()), .value = -1, .req = req});
    }
    return absl::OkStatus();
  }

  void TakeVariableShapes() {
    for (int i = 0; i < forward_->num_nodes(); ++i) {
      const Node* node = forward_->nodes()[i];
      if (!node->is_variable()) continue;
      const int entry = forward_->first_entry(i);
      const bool aux = forward_->is_aux(i);
      (aux ? result_.aux_shapes : result_.arg_shapes).push_back(forward_shapes_[entry].ToShape());
      (aux ? result_.aux_types : result_.arg_types).push_back(TypeOf(forward_types_[entry]));
    }
    result_.arg_contexts.resize(result_.arg_shapes.size(), options_.context);
    result_.aux_contexts.resize(result_.aux_shapes.size(), options_.context);
  }

  static DType TypeOf(const Type& type) { return type.value_or(DType::kFloat32); }

  // Without gradients it does not matter whether one can be run.
  bool CanRun(absl::string_view op) const {
    if (program().gradients.empty() && absl::StartsWith(op, "_backward")) return true;
    const auto schema = FindOp(op);
    if (!schema.ok()) return false;
    return (*schema)->is_view() || FindKernel(op, options_.context.device_type).ok();
  }

  absl::Status RunGraphPasses() {
    if (!options_.group2ctx.empty()) return absl::OkStatus();
    for (const GraphPass& pass : AllGraphPasses()) {
      if (options_.disabled_passes.contains(pass.name)) continue;
      std::vector<Shape> shapes;
      std::vector<DType> types;
      for (const PartialShape& shape : forward_shapes_) shapes.push_back(shape.ToShape());
      for (const Type& type : forward_types_) types.push_back(TypeOf(type));
      const GraphFacts facts(symbol_, std::move(shapes), std::move(types));
      auto rewrite = pass.run(facts, [this](absl::string_view op) { return CanRun(op); });
      absl::Status status = rewrite.status();
      if (status.ok() && rewrite->has_value()) status = TakeRewrite(facts, **std::move(rewrite));
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat("graph pass '", pass.name, "': ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeRewrite(const GraphFacts& old, GraphRewrite rewrite) {
    result_.rewritten = true;
    for (const auto& [copy, node] : rewrite.copies) {
      if (const auto id = ids_.find(node); id != ids_.end()) {
        const int number = id->second;
        ids_[copy.get()] = number;
      }
    }
    symbol_ = rewrite.symbol;
    forward_ = std::make_unique<IndexedGraph>(symbol_.outputs());
    forward_shapes_.assign(forward_->num_entries(), PartialShape());
    forward_types_.assign(forward_->num_entries(), std::nullopt);
    // What is new follows from what has stayed, whose shapes may come from what is gone.
    for (int i = 0; i < old.graph().num_nodes(); ++i) {
      for (int k = 0; k < old.node(i).num_outputs(); ++k) {
        const NodeEntry& entry = rewrite.entries[old.graph().first_entry(i) + k];
        if (!entry || !forward_->contains(entry.node.get())) continue;
        const NodeEntry before{old.owner(i), k};
        forward_shapes_[forward_->entry(entry)] = PartialShape(old.shape(before));
        forward_types_[forward_->entry(entry)] = old.type(before);
      }
    }
    rewrites_.push_back(std::move(rewrite));
    COOPER_RETURN_IF_ERROR(InferEntryShapes(*forward_, forward_shapes_));
    COOPER_RETURN_IF_ERROR(CheckShapesComplete(*forward_, forward_shapes_));
    return InferEntryTypes(*forward_, forward_types_);
  }

  // Makes the gradient graph and the order of all nodes: forward, head gradients, backward.
  absl::Status AddGradients() {
    std::vector<std::string> wrt;
    for (const ProgramGradient& g : program().gradients) wrt.push_back(program().arg_names[g.arg]);
    if (!wrt.empty()) {
      COOPER_ASSIGN_OR_RETURN(gradient_, MakeGradientGraph(symbol_, wrt));
    }
    std::vector<const Node*> order = forward_->nodes();
    for (const NodeEntry& head : gradient_.head_gradients) {
      if (head) order.push_back(head.node.get());
    }
    for (const NodePtr& node : gradient_.nodes) order.push_back(node.get());
    graph_ = std::make_unique<IndexedGraph>(std::move(order));
    return absl::OkStatus();
  }

  absl::Status InferGradients() {
    shapes_.resize(graph_->num_entries());
    types_.resize(graph_->num_entries());
    // Backward nodes take what is known over; the gradient of an output is shaped like it.
    for (int e = 0; e < forward_->num_entries(); ++e) {
      shapes_[e] = forward_shapes_[e];
      types_[e] = forward_types_[e];
    }
    for (size_t i = 0; i < gradient_.head_gradients.size(); ++i) {
      const NodeEntry& head = gradient_.head_gradients[i];
      if (!head) continue;
      const int output = forward_->entry(symbol_.outputs()[i]);
      shapes_[graph_->entry(head)] = forward_shapes_[output];
      types_[graph_->entry(head)] = forward_types_[output];
    }
    if (gradient_.nodes.empty()) return absl::OkStatus();
    COOPER_RETURN_IF_ERROR(InferEntryShapes(*graph_, shapes_));
    COOPER_RETURN_IF_ERROR(CheckShapesComplete(*graph_, shapes_));
    COOPER_RETURN_IF_ERROR(InferEntryTypes(*graph_, types_));
    return absl::OkStatus();
  }

  // Shapes and types of the forward graph.
  absl::Status InferForward() {
    COOPER_RETURN_IF_ERROR(CheckNames(options_.shapes, "shape"));
    COOPER_RETURN_IF_ERROR(CheckNames(options_.types, "type"));
    COOPER_ASSIGN_OR_RETURN(forward_shapes_, VariableShapes(*forward_, options_.shapes));
    COOPER_RETURN_IF_ERROR(InferEntryShapes(*forward_, forward_shapes_));
    COOPER_RETURN_IF_ERROR(CheckShapesComplete(*forward_, forward_shapes_));
    COOPER_ASSIGN_OR_RETURN(forward_types_, VariableTypes(*forward_, options_.types));
    COOPER_RETURN_IF_ERROR(InferEntryTypes(*forward_, forward_types_));
    for (int i = 0; i < forward_->num_nodes(); ++i) {
      Type& type = forward_types_[forward_->first_entry(i)];
      if (type.has_value() || !forward_->nodes()[i]->is_variable()) continue;
      type = DType::kFloat32;
      COOPER_RETURN_IF_ERROR(InferEntryTypes(*forward_, forward_types_));
    }
    return absl::OkStatus();
  }

  bool IsVariable(const std::string& name) const {
    for (const auto* names : {&result_.program.arg_names, &result_.program.aux_names}) {
      if (std::find(names->begin(), names->end(), name) != names->end()) return true;
    }
    return false;
  }

  template <typename Known>
  absl::Status CheckNames(const Known& known, const char* what) const {
    for (const auto& [name, value] : known) {
      if (IsVariable(name)) continue;
      return absl::NotFoundError(absl::StrCat("a ", what, " is given for '", name,
                                              "', which is no variable of the graph; those are ",
                                              absl::StrJoin(result_.program.arg_names, ", "),
                                              result_.program.aux_names.empty() ? "" : ", ",
                                              absl::StrJoin(result_.program.aux_names, ", ")));
    }
    return absl::OkStatus();
  }

  // Outputs of nodes that something needs, from the ends of the program backwards.
  void MarkNeeded() {
    needed_.assign(graph_->num_entries(), false);
    for (const NodeEntry& output : symbol_.outputs()) needed_[graph_->entry(output)] = true;
    for (const NodeEntry& gradient : gradient_.gradients) {
      if (gradient) needed_[graph_->entry(gradient)] = true;
    }
    for (int i = graph_->num_nodes() - 1; i >= 0; --i) {
      if (!NodeNeeded(i)) continue;
      for (const NodeEntry& input : graph_->nodes()[i]->inputs()) {
        needed_[graph_->entry(input)] = true;
      }
    }
  }

  // Nodes whose gradient computes their outputs, which only the caller reads besides.
  void FindLeftToGradients() {
    for (const NodePtr& gradient : gradient_.nodes) {
      const Node* forward = gradient->forward().get();
      if (forward == nullptr || !forward->op()->gradient_computes_outputs() ||
          !NodeNeeded(graph_->node_index(gradient.get()))) {
        continue;
      }
      left_to_gradient_.insert(forward);
    }
    for (const Node* node : graph_->nodes()) {
      for (const NodeEntry& input : node->inputs()) {
        if (node->forward() != input.node) left_to_gradient_.erase(input.node.get());
      }
    }
  }

  bool NodeNeeded(int i) const {
    for (int e = graph_->first_entry(i); e < graph_->first_entry(i + 1); ++e) {
      if (needed_[e]) return true;
    }
    return false;
  }

  int AddValue(int entry, const NodeEntry& node_entry, ProgramBuffer::Kind kind, int slot,
               int context) {
    Program& p = program();
    ProgramValue value;
    value.shape = shapes_[entry].ToShape();
    value.dtype = types_[entry].value_or(DType::kFloat32);
    value.buffer = static_cast<int>(p.buffers.size());
    value.entry = node_entry;
    p.buffers.push_back({.kind = kind,
                         .slot = slot,
                         .context = context,
                         .bytes = value.shape.num_elements() * SizeOf(value.dtype)});
    p.values.push_back(std::move(value));
    return static_cast<int>(p.values.size()) - 1;
  }

  void Emit() {
    Program& p = program();
    value_of_.assign(graph_->num_entries(), -1);
    const absl::flat_hash_map<const Node*, NodePtr> owners = Owners();
    p.arg_values.assign(p.arg_names.size(), -1);
    for (int i = 0; i < graph_->num_nodes(); ++i) {
      const Node* node = graph_->nodes()[i];
      const int entry = graph_->first_entry(i);
      if (node->is_variable()) {
        EmitVariable(i, entry, owners.at(node));
      } else if (NodeNeeded(i)) {
        EmitInstruction(i, owners.at(node));
      }
    }
    for (const NodeEntry& output : symbol_.outputs()) {
      p.outputs.push_back(value_of_[graph_->entry(output)]);
    }
    for (const NodeEntry& head : gradient_.head_gradients) {
      const bool taken = head && needed_[graph_->entry(head)];
      p.head_gradients.push_back(taken ? value_of_[graph_->entry(head)] : -1);
    }
    p.head_gradients.resize(p.outputs.size(), -1);
    for (size_t k = 0; k < gradient_.gradients.size(); ++k) {
      const NodeEntry& gradient = gradient_.gradients[k];
      if (gradient) p.gradients[k].value = value_of_[graph_->entry(gradient)];
    }
  }

  void EmitVariable(int i, int entry, const NodePtr& node) {
    Program& p = program();
    if (i >= forward_->num_nodes()) {
      int output = 0;
      while (!(gradient_.head_gradients[output].node == node)) ++output;
      value_of_[entry] =
          AddValue(entry, {node, 0}, ProgramBuffer::Kind::kHeadGrad, output, placement_.of_node[i]);
      return;
    }
    const bool aux = forward_->is_aux(i);
    const int slot = slots_.at(node.get());
    const int context = placement_.of_node[i];
    value_of_[entry] =
        AddValue(entry, {node, 0}, aux ? ProgramBuffer::Kind::kAux : ProgramBuffer::Kind::kArg,
                 slot, context);
    (aux ? result_.aux_contexts : result_.arg_contexts)[slot] = p.contexts[context];
    if (!aux) p.arg_values[slot] = value_of_[entry];
  }

  // The same number whatever passes have made of the graph around the node.
  uint64_t RandomIdOf(const Node& node) const {
    const Node* forward = node.forward() != nullptr ? node.forward().get() : &node;
    const auto id = ids_.find(forward);
    if (id == ids_.end()) return 0;
    return 2 * static_cast<uint64_t>(id->second) + (node.forward() != nullptr ? 1 : 0);
  }

  void EmitInstruction(int i, const NodePtr& node) {
    Instruction instruction;
    instruction.node = node;
    instruction.backward = i >= forward_->num_nodes();
    instruction.context = placement_.of_node[i];
    instruction.random_id = RandomIdOf(*node);
    instruction.left_to_gradient = left_to_gradient_.contains(node.get());
    for (const NodeEntry& input : node->inputs()) {
      instruction.inputs.push_back(value_of_[graph_->entry(input)]);
    }
    for (int k = 0; k < node->num_outputs(); ++k) {
      const int entry = graph_->first_entry(i) + k;
      // An output that nobody needs still has a shape that kernels may look at.
      value_of_[entry] =
          AddValue(entry, {node, k}, ProgramBuffer::Kind::kArena, -1, instruction.context);
      instruction.outputs.push_back(value_of_[entry]);
      instruction.reqs.push_back(needed_[entry] ? WriteReq::kWrite : WriteReq::kNull);
    }
    program().instructions.push_back(std::move(instruction));
  }

  absl::flat_hash_map<const Node*, NodePtr> Owners() const {
    absl::flat_hash_map<const Node*, NodePtr> owners;
    auto add = [&](const NodeEntry& e) {
      if (e) owners.emplace(e.node.get(), e.node);
    };
    for (const NodeEntry& head : symbol_.outputs()) add(head);
    for (const NodeEntry& head : gradient_.head_gradients) add(head);
    for (const NodePtr& node : gradient_.nodes) owners.emplace(node.get(), node);
    for (const Node* node : graph_->nodes()) {
      for (const NodeEntry& input : node->inputs()) add(input);
    }
    return owners;
  }

  const Symbol written_;                // the caller's
  Symbol symbol_;                       // the same, or what passes have made of it
  std::vector<GraphRewrite> rewrites_;  // whose nodes ids_ names
  const LowerOptions& options_;
  std::unique_ptr<IndexedGraph> forward_;
  GradientGraph gradient_;
  std::unique_ptr<IndexedGraph> graph_;  // forward and backward
  std::vector<PartialShape> forward_shapes_;
  std::vector<Type> forward_types_;
  std::vector<PartialShape> shapes_;
  std::vector<Type> types_;
  std::vector<bool> needed_;
  absl::flat_hash_set<const Node*> left_to_gradient_;
  Placement placement_;
  std::vector<int> value_of_;
  absl::flat_hash_map<const Node*, int> slots_;  // of variables
  absl::flat_hash_map<const Node*, int> ids_;    // positions in the caller's graph
  LoweredProgram result_;
};

}  // namespace

absl::StatusOr<LoweredProgram> LowerToProgram(const Symbol& symbol, const LowerOptions& options) {
  return Lowering(symbol, options).Run();
}

}  // namespace cooper
