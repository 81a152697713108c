#include "executor/compile/lower.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/needed_entries.h"
#include "executor/compile/placement.h"
#include "executor/compile/typed_graph.h"
#include "executor/compile/whole_graph.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {
namespace {

class Lowering {
 public:
  Lowering(TypedGraph typed, const CompileOptions& options)
      : typed_(std::move(typed)), options_(options) {}

  absl::StatusOr<LoweredProgram> Run() {
    NumberVariables();
    COOPER_RETURN_IF_ERROR(RunGraphPasses(options_, typed_));
    NumberFolded();
    if (!typed_.rewrites.empty()) {
      result_.entry_of_written =
          std::make_shared<const std::vector<int>>(std::move(typed_.entry_of_written));
    }
    result_.symbol = typed_.symbol;
    COOPER_RETURN_IF_ERROR(AddGradients());
    COOPER_RETURN_IF_ERROR(InferGradients());
    placement_ = PlaceNodes(*graph_, options_.group2ctx, options_.context);
    if (options_.fallback) MoveWithoutKernel();
    std::vector<NodeEntry> ends = typed_.symbol.outputs();
    ends.insert(ends.end(), backward().gradients.begin(), backward().gradients.end());
    for (const NodeEntry& output : typed_.symbol.outputs()) ends.push_back(RowCountOf(output));
    needed_ = NeededEntries(*graph_, ends, placement_);
    FindLeftToGradients();
    program().contexts = placement_.contexts;
    Emit();
    return std::move(result_);
  }

 private:
  Program& program() { return result_.program; }
  const IndexedGraph& forward() const { return *typed_.graph; }
  GradientGraph& backward() { return result_.gradient; }
  const GradientGraph& backward() const { return result_.gradient; }

  // Gives arguments and auxiliary states their slots, in the order in which the caller's symbol
  // lists them.
  void NumberVariables() {
    const IndexedGraph& graph = forward();
    for (int i = 0; i < graph.num_nodes(); ++i) {
      const Node* node = graph.nodes()[i];
      if (!node->is_variable()) continue;
      const int entry = graph.first_entry(i);
      const bool aux = graph.is_aux(i);
      auto& names = aux ? program().aux_names : program().arg_names;
      slots_[node] = {.index = static_cast<int>(names.size()), .aux = aux};
      names.push_back(node->name());
      (aux ? result_.aux_shapes : result_.arg_shapes).push_back(typed_.shapes[entry].ToShape());
      (aux ? result_.aux_types : result_.arg_types)
          .push_back(typed_.types[entry].value_or(DType::kFloat32));
    }
    result_.arg_contexts.resize(result_.arg_shapes.size(), options_.context);
    result_.aux_contexts.resize(result_.aux_shapes.size(), options_.context);
    const std::vector<std::string>& names = program().arg_names;
    for (const auto& [name, req] : options_.grad_reqs) {
      if (req == WriteReq::kNull) continue;
      const auto slot = static_cast<int>(absl::c_find(names, name) - names.begin());
      program().gradients.push_back({.arg = slot, .value = -1, .req = req});
    }
  }

  // Gives the values that passes have folded the slots behind the caller's arguments.
  void NumberFolded() {
    for (const GraphRewrite& rewrite : typed_.rewrites) {
      for (const FoldedConstant& folded : rewrite.folded) {
        const Node* const node = folded.variable.get();
        if (!forward().contains(node)) continue;
        const int entry = forward().first_entry(forward().node_index(node));
        slots_[node] = {.index = static_cast<int>(program().arg_names.size())};
        program().arg_names.push_back(folded.name);
        result_.arg_shapes.push_back(typed_.shapes[entry].ToShape());
        result_.arg_types.push_back(typed_.types[entry].value_or(DType::kFloat32));
        result_.arg_contexts.push_back(options_.context);
        result_.folded.push_back(folded);
      }
    }
  }

  // Makes the gradient graph and the order of all nodes: forward, head gradients, backward.
  absl::Status AddGradients() {
    std::vector<std::string> wrt;
    for (const ProgramGradient& g : program().gradients) wrt.push_back(program().arg_names[g.arg]);
    if (!wrt.empty()) {
      COOPER_ASSIGN_OR_RETURN(backward(), MakeGradientGraph(typed_.symbol, wrt));
    }
    graph_ = std::make_unique<IndexedGraph>(WholeGraph(forward(), backward()));
    return absl::OkStatus();
  }

  absl::Status InferGradients() {
    COOPER_ASSIGN_OR_RETURN(shapes_,
                            InferWholeShapes(typed_.symbol, backward(), *graph_, typed_.shapes));
    types_ = typed_.types;
    types_.resize(graph_->num_entries());
    for (size_t i = 0; i < backward().head_gradients.size(); ++i) {
      const NodeEntry& head = backward().head_gradients[i];
      if (head) types_[graph_->entry(head)] = types_[graph_->entry(typed_.symbol.outputs()[i])];
    }
    if (!backward().nodes.empty()) COOPER_RETURN_IF_ERROR(InferEntryTypes(*graph_, types_));
    return CheckGradients();
  }

  // They are written to arrays that are like their arguments.
  absl::Status CheckGradients() const {
    for (size_t k = 0; k < backward().gradients.size(); ++k) {
      if (!backward().gradients[k]) continue;
      const int arg = result_.program.gradients[k].arg;
      const int entry = graph_->entry(backward().gradients[k]);
      const DType type = types_[entry].value_or(DType::kFloat32);
      if (type == result_.arg_types[arg] &&
          shapes_[entry] == PartialShape(result_.arg_shapes[arg])) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "the gradient of argument '", result_.program.arg_names[arg], "' is ", DTypeName(type),
          " ", shapes_[entry].ToString(), ", expected ", DTypeName(result_.arg_types[arg]), " ",
          result_.arg_shapes[arg].ToString(), " as the argument is: ask for none (grad_req null)"));
    }
    return absl::OkStatus();
  }

  // Nodes whose gradient computes their outputs, which only the caller reads besides.
  void FindLeftToGradients() {
    for (const NodePtr& gradient : backward().nodes) {
      const Node* forward = gradient->forward().get();
      if (forward == nullptr || !forward->op()->gradient_computes_outputs() ||
          !needed_.HasNode(graph_->node_index(gradient.get()))) {
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

  // What says how many rows the output has; empty if all are there.
  static NodeEntry RowCountOf(const NodeEntry& output) {
    const Node& node = *output.node;
    if (node.is_variable() || !node.op()->counts_rows() || output.index > 0) return {};
    return {output.node, node.num_outputs() - 1};
  }

  void MoveWithoutKernel() {
    MoveToCpu(
        *graph_, [this](int i, Context context) { return CanRunOn(i, context); }, &placement_);
    // Callers give head gradients where they find the outputs.
    for (size_t i = 0; i < backward().head_gradients.size(); ++i) {
      const NodeEntry& head = backward().head_gradients[i];
      if (!head) continue;
      const Node* const output = typed_.symbol.outputs()[i].node.get();
      placement_.of_node[graph_->node_index(head.node.get())] =
          placement_.of_node[graph_->node_index(output)];
    }
  }

  // Whether there is a kernel, for the dtypes by which kernels are found.
  bool CanRunOn(int i, Context context) const {
    const Node& node = *graph_->nodes()[i];
    const auto kernel = FindKernel(node.op()->name(), context.device_type);
    if (!kernel.ok()) return false;
    const auto takes = [&](int entry) {
      return (*kernel)->dtypes.contains(types_[entry].value_or(DType::kFloat32));
    };
    return (node.inputs().empty() || takes(graph_->entry(node.inputs()[0]))) &&
           (node.num_outputs() == 0 || takes(graph_->first_entry(i)));
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
      } else if (needed_.HasNode(i)) {
        EmitInstruction(i, owners.at(node));
      }
    }
    for (const NodeEntry& output : typed_.symbol.outputs()) {
      p.outputs.push_back(value_of_[graph_->entry(output)]);
      const NodeEntry count = RowCountOf(output);
      p.row_counts.push_back(count ? value_of_[graph_->entry(count)] : -1);
    }
    for (const NodeEntry& head : backward().head_gradients) {
      const bool taken = head && needed_.Has(graph_->entry(head));
      p.head_gradients.push_back(taken ? value_of_[graph_->entry(head)] : -1);
    }
    p.head_gradients.resize(p.outputs.size(), -1);
    for (size_t k = 0; k < backward().gradients.size(); ++k) {
      const NodeEntry& gradient = backward().gradients[k];
      if (gradient) p.gradients[k].value = value_of_[graph_->entry(gradient)];
    }
  }

  void EmitVariable(int i, int entry, const NodePtr& node) {
    Program& p = program();
    if (i >= forward().num_nodes()) {
      int output = 0;
      while (!(backward().head_gradients[output].node == node)) ++output;
      value_of_[entry] =
          AddValue(entry, {node, 0}, ProgramBuffer::Kind::kHeadGrad, output, placement_.of_node[i]);
      return;
    }
    const auto [slot, aux] = slots_.at(node.get());
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
    const auto id = typed_.ids.find(forward);
    if (id == typed_.ids.end()) return 0;
    return 2 * static_cast<uint64_t>(id->second) + (node.forward() != nullptr ? 1 : 0);
  }

  void EmitInstruction(int i, const NodePtr& node) {
    Instruction instruction;
    instruction.node = node;
    instruction.backward = i >= forward().num_nodes();
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
      instruction.reqs.push_back(needed_.Has(entry) ? WriteReq::kWrite : WriteReq::kNull);
    }
    program().instructions.push_back(std::move(instruction));
  }

  absl::flat_hash_map<const Node*, NodePtr> Owners() const {
    absl::flat_hash_map<const Node*, NodePtr> owners;
    auto add = [&](const NodeEntry& e) {
      if (e) owners.emplace(e.node.get(), e.node);
    };
    for (const NodeEntry& head : typed_.symbol.outputs()) add(head);
    for (const NodeEntry& head : backward().head_gradients) add(head);
    for (const NodePtr& node : backward().nodes) owners.emplace(node.get(), node);
    for (const Node* node : graph_->nodes()) {
      for (const NodeEntry& input : node->inputs()) add(input);
    }
    return owners;
  }

  // Passes may have left an auxiliary state to operators that see it as an input like any other.
  struct Slot {
    int index = 0;
    bool aux = false;
  };

  TypedGraph typed_;
  const CompileOptions& options_;
  std::unique_ptr<IndexedGraph> graph_;  // forward and backward
  std::vector<PartialShape> shapes_;
  std::vector<std::optional<DType>> types_;
  NeededEntries needed_;
  absl::flat_hash_set<const Node*> left_to_gradient_;
  Placement placement_;
  std::vector<int> value_of_;
  absl::flat_hash_map<const Node*, Slot> slots_;  // of variables
  LoweredProgram result_;
};

}  // namespace

absl::StatusOr<LoweredProgram> LowerToProgram(const Symbol& symbol, const CompileOptions& options) {
  COOPER_ASSIGN_OR_RETURN(TypedGraph typed, InferTypedGraph(symbol, options));
  return Lowering(std::move(typed), options).Run();
}

}  // namespace cooper
