#include "module/predict/inference_network.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

// Returns the index of a loss's input that only the gradient reads; -1 for other nodes, including a
// loss whose gradient kernel computes the output too, since that output depends on the label.
int LabelInput(const Node& node) {
  if (node.is_variable() || !node.op()->IgnoresHeadGradient(node.call()) ||
      node.op()->gradient_computes_outputs()) {
    return -1;
  }
  const OpSchema::Names names = node.op()->InputNames(node.call());
  for (size_t i = 0; i < names.size() && i < node.inputs().size(); ++i) {
    if (names[i] == "label") return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<Symbol> SelectOutputs(const Symbol& symbol, absl::Span<const std::string> names) {
  if (names.empty()) return symbol;
  const Symbol internals = symbol.GetInternals();
  std::vector<Symbol> selected;
  for (const std::string& name : names) {
    COOPER_ASSIGN_OR_RETURN(selected.emplace_back(), internals.Get(name));
  }
  return Symbol::Group(selected);
}

// Returns a call of BatchNorm, which passes can optimize (by folding it into a convolution), equal
// to a node of an older kind; nullopt for other nodes, and for nodes with their variance as an
// output, which BatchNorm has in another form.
std::optional<OpCall> CallOfBatchNorm(const Node& node) {
  if (!IsOp(node, "BatchNorm_v1") && !IsOp(node, "_contrib_SyncBatchNorm")) return std::nullopt;
  if (node.op()->NumVisibleOutputs(node.call()) != 1) return std::nullopt;
  AttrMap attrs = node.attrs();
  attrs.erase("ndev");
  attrs.erase("key");
  absl::StatusOr<OpCall> call = MakeOpCall("BatchNorm", std::move(attrs), node.inputs().size());
  if (!call.ok()) return std::nullopt;
  return *std::move(call);
}

// Returns a name for the label of a loss that no variable of the graph has.
std::string NewLabelName(const Node& loss, const absl::flat_hash_set<std::string>& taken) {
  std::string name = absl::StrCat(loss.name(), "_label");
  for (int i = 0; taken.contains(name); ++i) name = absl::StrCat(loss.name(), "_label", i);
  return name;
}

// Returns the graph with variables in place of computed labels, and BatchNorm in place of its older
// kinds.
Symbol OfPrediction(const Symbol& symbol) {
  const IndexedGraph graph(symbol.outputs());
  absl::flat_hash_map<const Node*, NodePtr> made;  // replacements of nodes that change
  absl::flat_hash_set<std::string> taken;
  for (const Node* node : graph.nodes()) {
    if (node->is_variable()) taken.insert(node->name());
  }
  const auto now = [&](const NodeEntry& entry) {
    const auto it = made.find(entry.node.get());
    return it == made.end() ? entry : NodeEntry{it->second, entry.index};
  };
  for (const Node* node : graph.nodes()) {
    const int label = LabelInput(*node);
    std::vector<NodeEntry> inputs;
    bool changed = false;
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const NodeEntry& old = node->inputs()[i];
      if (static_cast<int>(i) == label && !old.node->is_variable()) {
        const std::string name = NewLabelName(*node, taken);
        taken.insert(name);
        inputs.push_back(Symbol::Variable(name).outputs()[0]);
      } else {
        inputs.push_back(now(old));
      }
      changed |= !(inputs.back() == old);
    }
    std::optional<OpCall> call = CallOfBatchNorm(*node);
    if (!changed && !call.has_value()) continue;
    Node::Fields fields = node->fields();
    if (call.has_value()) fields.call = *std::move(call);
    fields.inputs = std::move(inputs);
    fields.variables = nullptr;
    made[node] = Node::Make(std::move(fields));
  }
  std::vector<NodeEntry> outputs;
  for (const NodeEntry& output : symbol.outputs()) outputs.push_back(now(output));
  return Symbol(std::move(outputs));
}

// Returns the variables that are labels of losses and nothing else.
absl::flat_hash_set<std::string> FindUnreadLabels(const Symbol& symbol) {
  absl::flat_hash_set<std::string> labels, read;
  for (const NodeEntry& output : symbol.outputs()) read.insert(output.node->name());
  const IndexedGraph graph(symbol.outputs());
  for (const Node* node : graph.nodes()) {
    const int label = LabelInput(*node);
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Node& input = *node->inputs()[i].node;
      if (!input.is_variable()) continue;
      (static_cast<int>(i) == label ? labels : read).insert(input.name());
    }
  }
  for (const std::string& name : read) labels.erase(name);
  return labels;
}

}  // namespace

absl::StatusOr<InferenceNetwork> MakeInferenceNetwork(const Symbol& symbol, const ArrayMap& args,
                                                      const ArrayMap& auxs,
                                                      absl::Span<const std::string> output_names) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  if (symbol.num_outputs() == 0) return absl::InvalidArgumentError("the network has no outputs");
  COOPER_ASSIGN_OR_RETURN(const Symbol selected, SelectOutputs(symbol, output_names));
  InferenceNetwork network = {.symbol = OfPrediction(selected)};
  COOPER_RETURN_IF_ERROR(CheckVariableNames(network.symbol.outputs()));
  const absl::flat_hash_set<std::string> labels = FindUnreadLabels(network.symbol);
  const VariableNames names = network.symbol.ListVariables();
  for (const std::string& name : names.args) {
    if (labels.contains(name)) {
      network.unread_labels.push_back(name);
    } else if (FindArray(args, name).is_null()) {
      network.inputs.push_back(name);
    }
  }
  for (const std::string& name : names.auxs) {
    if (FindArray(auxs, name).is_null()) network.missing_auxs.push_back(name);
  }
  return network;
}

absl::Status CheckInputs(const InferenceNetwork& network, const KnownShapes& shapes) {
  for (const auto& [name, shape] : shapes) {
    if (!absl::c_linear_search(network.inputs, name)) {
      return absl::InvalidArgumentError(absl::StrCat("there is no input '", name, "'; those are ",
                                                     JoinNames(network.inputs),
                                                     DidYouMean(name, network.inputs)));
    }
    if (!shape.IsFull() || shape.ToShape().num_elements() == 0) {
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has the shape ",
                                                     shape.ToString(),
                                                     ", expected extents of at least 1"));
    }
  }
  for (const std::string& name : network.inputs) {
    if (!shapes.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", name,
          "' is missing (outputs that need it can be left out: PredictorOptions::output_names)"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
