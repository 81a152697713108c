#include "executor/compile/lower.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/counted_entries.h"
#include "executor/compile/inferred_graph.h"
#include "executor/compile/placed_graph.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {
namespace {

// Emits a program: lists its values, buffers and instructions. This is the last stage of lowering.
class Emitter {
 public:
  Emitter(InferredGraph graph, const PlacedGraph& placed)
      : graph_(std::move(graph)), placed_(placed) {}

  LoweredProgram Run() {
    TakeVariables();
    Emit();
    if (!graph_.forward.rewrites.empty()) {
      result_.entry_of_written =
          std::make_shared<const std::vector<int>>(std::move(graph_.forward.entry_of_written));
    }
    result_.folded = std::move(graph_.folded);
    result_.expanded = std::move(graph_.forward.expanded);
    result_.symbol = std::move(graph_.forward.symbol);
    result_.gradient = std::move(graph_.gradient);
    return std::move(result_);
  }

 private:
  Program& program() { return result_.program; }
  const IndexedGraph& whole() const { return *graph_.whole; }

  void TakeVariables() {
    Program& p = program();
    p.contexts = placed_.placement.contexts;
    p.gradients = graph_.gradients;
    for (const ProgramVariable& arg : graph_.args) {
      slots_[arg.node] = {.index = static_cast<int>(p.arg_names.size())};
      p.arg_names.push_back(arg.name);
      result_.arg_shapes.push_back(arg.shape);
      result_.arg_types.push_back(arg.dtype);
    }
    for (const ProgramVariable& aux : graph_.auxs) {
      slots_[aux.node] = {.index = static_cast<int>(p.aux_names.size()), .aux = true};
      p.aux_names.push_back(aux.name);
      result_.aux_shapes.push_back(aux.shape);
      result_.aux_types.push_back(aux.dtype);
    }
    // Variables that passes have removed from the graph are on the executor's context.
    result_.arg_contexts.resize(p.arg_names.size(), p.contexts[0]);
    result_.aux_contexts.resize(p.aux_names.size(), p.contexts[0]);
  }

  int AddValue(int entry, const NodeEntry& node_entry, ProgramBuffer::Kind kind, int slot,
               int context) {
    Program& p = program();
    ProgramValue value;
    value.shape = graph_.shapes[entry].ToShape();
    value.dtype = graph_.type(entry);
    value.buffer = static_cast<int>(p.buffers.size());
    value.entry = node_entry;
    value.counted = graph_.counted[entry];
    p.buffers.push_back({.kind = kind,
                         .slot = slot,
                         .context = context,
                         .bytes = value.shape.num_elements() * SizeOf(value.dtype)});
    p.values.push_back(std::move(value));
    return static_cast<int>(p.values.size()) - 1;
  }

  void Emit() {
    Program& p = program();
    value_of_.assign(whole().num_entries(), -1);
    const absl::flat_hash_map<const Node*, NodePtr> owners = Owners();
    p.arg_values.assign(p.arg_names.size(), -1);
    for (int i = 0; i < whole().num_nodes(); ++i) {
      const Node* node = whole().nodes()[i];
      const int entry = whole().first_entry(i);
      if (node->is_variable()) {
        EmitVariable(i, entry, owners.at(node));
      } else if (placed_.needed.HasNode(i)) {
        EmitInstruction(i, owners.at(node));
      }
    }
    for (const NodeEntry& output : graph_.forward.symbol.outputs()) {
      p.outputs.push_back(value_of_[whole().entry(output)]);
    }
    for (const NodeEntry& head : graph_.gradient.head_gradients) {
      const bool taken = head && placed_.needed.Has(whole().entry(head));
      p.head_gradients.push_back(taken ? value_of_[whole().entry(head)] : -1);
    }
    p.head_gradients.resize(p.outputs.size(), -1);
    for (size_t k = 0; k < graph_.gradient.gradients.size(); ++k) {
      const NodeEntry& gradient = graph_.gradient.gradients[k];
      if (gradient) p.gradients[k].value = value_of_[whole().entry(gradient)];
    }
  }

  void EmitVariable(int i, int entry, const NodePtr& node) {
    Program& p = program();
    if (i >= graph_.forward.graph->num_nodes()) {
      int output = 0;
      while (!(graph_.gradient.head_gradients[output].node == node)) ++output;
      value_of_[entry] = AddValue(entry, {node, 0}, ProgramBuffer::Kind::kHeadGrad, output,
                                  placed_.placement.of_node[i]);
      return;
    }
    const auto [slot, aux] = slots_.at(node.get());
    const int context = placed_.placement.of_node[i];
    value_of_[entry] =
        AddValue(entry, {node, 0}, aux ? ProgramBuffer::Kind::kAux : ProgramBuffer::Kind::kArg,
                 slot, context);
    (aux ? result_.aux_contexts : result_.arg_contexts)[slot] = p.contexts[context];
    if (!aux) p.arg_values[slot] = value_of_[entry];
  }

  // Returns the number of the random stream of a node. It depends on the graph as written, so
  // passes do not change the numbers that are drawn.
  uint64_t RandomIdOf(const Node& node) const {
    const Node* forward = node.forward() != nullptr ? node.forward().get() : &node;
    const auto id = graph_.forward.ids.find(forward);
    if (id == graph_.forward.ids.end()) return 0;
    return 2 * static_cast<uint64_t>(id->second) + (node.forward() != nullptr ? 1 : 0);
  }

  void EmitInstruction(int i, const NodePtr& node) {
    Instruction instruction;
    instruction.node = node;
    instruction.backward = i >= graph_.forward.graph->num_nodes();
    instruction.context = placed_.placement.of_node[i];
    instruction.random_id = RandomIdOf(*node);
    instruction.computed_by_gradient = placed_.computed_by_gradient.contains(node.get());
    for (const NodeEntry& input : node->inputs()) {
      instruction.inputs.push_back(value_of_[whole().entry(input)]);
    }
    for (int k = 0; k < node->num_outputs(); ++k) {
      const int entry = whole().first_entry(i) + k;
      // An output that nobody needs still has a shape, which kernels may read.
      value_of_[entry] =
          AddValue(entry, {node, k}, ProgramBuffer::Kind::kArena, -1, instruction.context);
      instruction.outputs.push_back(value_of_[entry]);
      instruction.reqs.push_back(placed_.needed.Has(entry) ? WriteReq::kWrite : WriteReq::kNull);
    }
    program().instructions.push_back(std::move(instruction));
  }

  absl::flat_hash_map<const Node*, NodePtr> Owners() const {
    absl::flat_hash_map<const Node*, NodePtr> owners;
    auto add = [&](const NodeEntry& e) {
      if (e) owners.emplace(e.node.get(), e.node);
    };
    for (const NodeEntry& head : graph_.forward.symbol.outputs()) add(head);
    for (const NodeEntry& head : graph_.gradient.head_gradients) add(head);
    for (const NodePtr& node : graph_.gradient.nodes) owners.emplace(node.get(), node);
    for (const Node* node : whole().nodes()) {
      for (const NodeEntry& input : node->inputs()) add(input);
    }
    return owners;
  }

  // Passes may have replaced the operators for which a variable is an auxiliary state by others for
  // which it is a plain input.
  struct Slot {
    int index = 0;
    bool aux = false;
  };

  InferredGraph graph_;
  const PlacedGraph& placed_;
  std::vector<int> value_of_;
  absl::flat_hash_map<const Node*, Slot> slots_;  // of variables
  LoweredProgram result_;
};

// Fails if a node that runs on a GPU reads an array whose shape depends on values: the host, which
// has to know the shape, would wait for the device. A node whose operator has no kernel for GPUs is
// refused for that reason when its instruction is prepared.
absl::Status CheckCountedOnCpu(const InferredGraph& graph, const PlacedGraph& placed) {
  const IndexedGraph& whole = *graph.whole;
  for (int i = 0; i < whole.num_nodes(); ++i) {
    const Context context = placed.placement.contexts[placed.placement.of_node[i]];
    if (context.is_cpu() || !placed.needed.HasNode(i)) continue;
    const Node& node = *whole.nodes()[i];
    const int input = CountedInput(whole, graph.counted, node);
    if (input < 0) continue;
    const bool has_kernel =
        node.op()->is_view() || FindKernel(node.op()->name(), context.device_type).ok();
    if (!has_kernel) continue;
    return CountedInputError(node, input,
                             absl::StrCat(", and nothing is computed from such arrays on ",
                                          context.ToString(), ": place the node on a CPU"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoweredProgram> LowerToProgram(const Symbol& symbol, const CompileOptions& options) {
  COOPER_ASSIGN_OR_RETURN(InferredGraph graph, InferGraph(symbol, options));
  const PlacedGraph placed = PlaceGraph(graph, options);
  COOPER_RETURN_IF_ERROR(CheckCountedOnCpu(graph, placed));
  return Emitter(std::move(graph), placed).Run();
}

}  // namespace cooper
