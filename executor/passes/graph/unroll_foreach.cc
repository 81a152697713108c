#include "executor/passes/graph/unroll_foreach.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/control/foreach_body.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

constexpr int64_t kMaxSteps = int64_t{1} << 16;  // the most outputs of SliceChannel
constexpr int64_t kMaxNodes = int64_t{1} << 22;

// The copies of one body.
class Unroller {
 public:
  // `inputs` are those of the loop in the new graph.
  Unroller(const Node& loop, int64_t length, std::vector<NodeEntry> inputs)
      : loop_(loop), body_(loop.call()), length_(length), inputs_(std::move(inputs)) {}

  // Returns the outputs of the loop. `vector_data` tells for each data input whether it has rank 1,
  // whose steps keep the axis.
  absl::StatusOr<std::vector<NodeEntry>> Run(const std::vector<bool>& vector_data) {
    const ForeachParam& param = body_.param();
    COOPER_RETURN_IF_ERROR(SplitData(vector_data));
    std::vector<NodeEntry> states(inputs_.begin() + param.num_data(),
                                  inputs_.begin() + param.num_data() + param.num_states());
    std::vector<std::vector<NodeEntry>> values(param.num_out_data);  // by output, then by step
    for (int64_t t = 0; t < length_; ++t) {
      std::vector<NodeEntry> outputs = CopyBody(t, states);
      for (int j = 0; j < param.num_out_data; ++j) values[j].push_back(std::move(outputs[j]));
      states.assign(outputs.begin() + param.num_out_data, outputs.end());
    }
    std::vector<NodeEntry> results;
    for (int j = 0; j < param.num_out_data; ++j) {
      COOPER_ASSIGN_OR_RETURN(results.emplace_back(),
                              Stack(absl::StrCat(loop_.name(), "_out", j), std::move(values[j])));
    }
    results.insert(results.end(), states.begin(), states.end());
    return results;
  }

 private:
  // Returns `attrs` with the hidden attributes of the loop, such as __ctx_group__.
  AttrMap Attrs(AttrMap attrs) const {
    for (const auto& [key, value] : loop_.attrs()) {
      if (absl::StartsWith(key, "__")) attrs.emplace(key, value);
    }
    return attrs;
  }

  // Returns the values of all steps as one array. Recurrent cells stack their outputs by the same
  // operators, which the pass over recurrent layers recognises.
  absl::StatusOr<NodeEntry> Stack(const std::string& name, std::vector<NodeEntry> values) const {
    for (size_t t = 0; t < values.size(); ++t) {
      COOPER_ASSIGN_OR_RETURN(values[t], MakeEntry("expand_dims", absl::StrCat(name, "_t", t),
                                                   {values[t]}, Attrs({{"axis", "0"}})));
    }
    return MakeEntry("Concat", name, std::move(values),
                     Attrs({{"dim", "0"}, {"num_args", absl::StrCat(length_)}}));
  }

  absl::Status SplitData(const std::vector<bool>& vector_data) {
    for (int i = 0; i < body_.param().num_data(); ++i) {
      COOPER_ASSIGN_OR_RETURN(
          steps_.emplace_back(),
          MakeNode("SliceChannel", absl::StrCat(loop_.name(), "_data", i), {inputs_[i]},
                   Attrs({{"num_outputs", absl::StrCat(length_)},
                          {"axis", "0"},
                          {"squeeze_axis", vector_data[i] ? "False" : "True"}})));
    }
    return absl::OkStatus();
  }

  // Returns the outputs of the body's copy for step `t`.
  std::vector<NodeEntry> CopyBody(int64_t t, const std::vector<NodeEntry>& states) const {
    const IndexedGraph& graph = body_.graph();
    const int num_data = body_.param().num_data();
    std::vector<NodeEntry> entries(graph.num_entries());
    for (int i = 0; i < static_cast<int>(inputs_.size()); ++i) {
      const int state = i - num_data;
      entries[body_.input_entry(i)] = state < 0 ? NodeEntry{steps_[i], static_cast<int>(t)}
                                      : state < static_cast<int>(states.size()) ? states[state]
                                                                                : inputs_[i];
    }
    for (int i = 0; i < graph.num_nodes(); ++i) {
      const Node& node = *graph.nodes()[i];
      if (node.is_variable()) continue;
      Node::Fields fields = node.fields();
      fields.name = absl::StrCat(node.name(), "_t", t);
      for (NodeEntry& input : fields.inputs) input = entries[graph.entry(input)];
      fields.variables = nullptr;
      fields.input_versions.reset();
      const NodePtr copy = Node::Make(std::move(fields));
      for (int k = 0; k < copy->num_outputs(); ++k) entries[graph.first_entry(i) + k] = {copy, k};
    }
    std::vector<NodeEntry> outputs;
    for (const NodeEntry& output : body_.outputs()) outputs.push_back(entries[graph.entry(output)]);
    return outputs;
  }

  const Node& loop_;
  ForeachBody body_;
  int64_t length_;
  std::vector<NodeEntry> inputs_;
  std::vector<NodePtr> steps_;  // by data input: the node whose outputs are its steps
};

// Returns the number of steps of a loop.
int64_t LengthOf(const GraphFacts& facts, const Node& loop) {
  return facts.shape(loop.inputs()[0])[0];
}

// Fails if a loop has more than kMaxSteps steps, or if the copies of all bodies make a graph of
// more than kMaxNodes nodes.
absl::Status CheckSizes(const GraphFacts& facts) {
  int64_t nodes = facts.graph().num_nodes();
  for (const Node* loop : facts.graph().nodes()) {
    if (!IsOp(*loop, "_foreach")) continue;
    const int64_t length = LengthOf(facts, *loop);
    if (length < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(Describe(*loop), ": its data has no steps: the first extent is ", length));
    }
    if (length > kMaxSteps) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Describe(*loop), ": ", length, " steps, expected at most ", kMaxSteps));
    }
    const int64_t body = ForeachBody(loop->call()).graph().num_nodes();
    if (length > (kMaxNodes - nodes) / body) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Describe(*loop), ": ", length, " steps of ", body,
                       " nodes each make a graph of more than ", kMaxNodes, " nodes"));
    }
    nodes += length * body;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> UnrollForeach(const GraphFacts& facts) {
  COOPER_RETURN_IF_ERROR(CheckSizes(facts));
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    if (!IsOp(node, "_foreach")) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    found = true;
    std::vector<bool> vector_data;
    for (const NodeEntry& input : node.inputs()) {
      vector_data.push_back(facts.shape(input).rank() == 1);
    }
    COOPER_ASSIGN_OR_RETURN(
        std::vector<NodeEntry> outputs,
        Unroller(node, LengthOf(facts, node), rebuilder.NewInputs(i)).Run(vector_data));
    for (int k = 0; k < node.num_outputs(); ++k) {
      rebuilder.Replace({facts.owner(i), k}, std::move(outputs[k]));
    }
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
