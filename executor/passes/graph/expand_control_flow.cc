#include "executor/passes/graph/expand_control_flow.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/replacement_nodes.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/control/cond_param.h"
#include "symbol/ops/control/control_graph.h"
#include "symbol/ops/control/foreach_body.h"
#include "symbol/ops/control/while_loop_param.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

using Entries = std::vector<NodeEntry>;

// Returns the number of steps of a _foreach.
int64_t LengthOf(const GraphFacts& facts, const Node& loop) {
  return facts.shape(loop.inputs()[0])[0];
}

// Makes the nodes that replace one node of control flow.
class Expander : protected ReplacementNodes {
 public:
  // `inputs` are those of the node in the new graph.
  Expander(const Node& node, Entries inputs) : ReplacementNodes(node), inputs_(std::move(inputs)) {}

 protected:
  const Entries& inputs() const { return inputs_; }

  // Returns `outputs` of a copy of `graph`. `entries`, by entry of the graph, has the values of its
  // variables. Copies are called after their originals.
  static Entries Copy(const IndexedGraph& graph, const Entries& outputs, Entries entries,
                      const std::string& suffix) {
    for (int i = 0; i < graph.num_nodes(); ++i) {
      const Node& node = *graph.nodes()[i];
      if (node.is_variable()) continue;
      Node::Fields fields = node.fields();
      fields.name += suffix;
      for (NodeEntry& input : fields.inputs) input = entries[graph.entry(input)];
      fields.variables = nullptr;
      fields.input_versions.reset();
      const NodePtr copy = Node::Make(std::move(fields));
      for (int k = 0; k < copy->num_outputs(); ++k) entries[graph.first_entry(i) + k] = {copy, k};
    }
    Entries results;
    for (const NodeEntry& output : outputs) results.push_back(entries[graph.entry(output)]);
    return results;
  }

  // Returns the outputs of a copy of `graph`, whose variables have the `values` of the node's
  // inputs.
  static Entries Copy(const ControlGraph& graph, const Entries& values, const std::string& suffix) {
    Entries entries(graph.graph().num_entries());
    for (int j = 0; j < graph.num_variables(); ++j)
      entries[graph.entry(j)] = values[graph.input(j)];
    return Copy(graph.graph(), graph.outputs(), std::move(entries), suffix);
  }

  // Returns the outputs of a copy that runs if `condition` is `expected`. `guard` is in the names
  // of its guards.
  absl::StatusOr<Entries> CopyUnder(const ControlGraph& graph, Entries values,
                                    const NodeEntry& condition, bool expected,
                                    const std::string& guard, const std::string& suffix) const {
    for (int j = 0; j < graph.num_variables(); ++j) {
      if (graph.is_aux(j)) continue;  // the operator changes the array itself
      COOPER_ASSIGN_OR_RETURN(
          values[graph.input(j)],
          Make("_guard", absl::StrCat(guard, graph.input(j)), {values[graph.input(j)], condition},
               {{"expected", expected ? "True" : "False"}}));
    }
    return Copy(graph, values, suffix);
  }

  // Returns whether a value of one element is other than zero, as a bool of shape (1,).
  absl::StatusOr<NodeEntry> Bool(const NodeEntry& value, const std::string& suffix) const {
    COOPER_ASSIGN_OR_RETURN(const NodeEntry one, Make("Reshape", absl::StrCat(suffix, "_one"),
                                                      {value}, {{"shape", "(1,)"}}));
    return Make("Cast", absl::StrCat(suffix, "_bool"), {one}, {{"dtype", "bool"}});
  }

 private:
  Entries inputs_;
};

class ForeachExpander : public Expander {
 public:
  // `vector_data` tells for each data input whether it has rank 1, whose steps keep the axis.
  ForeachExpander(const Node& loop, Entries inputs, int64_t length, std::vector<bool> vector_data)
      : Expander(loop, std::move(inputs)),
        body_(loop.call()),
        length_(length),
        vector_data_(std::move(vector_data)) {}

  absl::StatusOr<Entries> Run() const {
    const ForeachParam& param = body_.param();
    COOPER_ASSIGN_OR_RETURN(const Entries steps, SplitData());
    Entries states(inputs().begin() + param.num_data(),
                   inputs().begin() + param.num_data() + param.num_states());
    std::vector<Entries> values(param.num_out_data);  // by output, then by step
    for (int64_t t = 0; t < length_; ++t) {
      Entries outputs = Step(t, steps, states);
      for (int j = 0; j < param.num_out_data; ++j) values[j].push_back(std::move(outputs[j]));
      states.assign(outputs.begin() + param.num_out_data, outputs.end());
    }
    Entries results;
    for (int j = 0; j < param.num_out_data; ++j) {
      COOPER_ASSIGN_OR_RETURN(results.emplace_back(),
                              Stack(absl::StrCat("_out", j), std::move(values[j])));
    }
    results.insert(results.end(), states.begin(), states.end());
    return results;
  }

 private:
  // Returns for each data input output 0 of the node whose outputs are its steps.
  absl::StatusOr<Entries> SplitData() const {
    Entries steps;
    for (int i = 0; i < body_.param().num_data(); ++i) {
      COOPER_ASSIGN_OR_RETURN(steps.emplace_back(), Split(absl::StrCat("_data", i), inputs()[i],
                                                          length_, /*keep_axis=*/vector_data_[i]));
    }
    return steps;
  }

  // Returns the outputs of the body's copy for step `t`.
  Entries Step(int64_t t, const Entries& steps, const Entries& states) const {
    Entries entries(body_.graph().num_entries());
    for (size_t i = 0; i < inputs().size(); ++i) {
      const size_t state = i - steps.size();
      entries[body_.input_entry(static_cast<int>(i))] =
          i < steps.size()        ? NodeEntry{steps[i].node, static_cast<int>(t)}
          : state < states.size() ? states[state]
                                  : inputs()[i];
    }
    return Copy(body_.graph(), body_.outputs(), std::move(entries), absl::StrCat("_t", t));
  }

  ForeachBody body_;
  int64_t length_;
  std::vector<bool> vector_data_;
};

class WhileLoopExpander : public Expander {
 public:
  WhileLoopExpander(const Node& loop, Entries inputs)
      : Expander(loop, std::move(inputs)),
        param_(loop.call().param<WhileLoopParam>()),
        graphs_(WhileLoopGraphs(loop.call())) {}

  absl::StatusOr<Entries> Run() const {
    Entries values = inputs();  // those of the loop variables change from step to step
    std::vector<Entries> rows(param_.num_out_data);
    NodeEntry running;  // whether the step runs
    for (int64_t t = 0; t < param_.max_iterations; ++t) {
      const std::string step = absl::StrCat("_t", t);
      COOPER_ASSIGN_OR_RETURN(running, Running(values, running, step));
      COOPER_ASSIGN_OR_RETURN(
          const Entries outputs,
          CopyUnder(graphs_[WhileLoopParam::kBody], values, running, true, step + "_in", step));
      for (int j = 0; j < param_.num_out_data; ++j) {
        COOPER_ASSIGN_OR_RETURN(
            rows[j].emplace_back(),
            Make("_keep_if", absl::StrCat(step, "_row", j), {outputs[j], running}));
      }
      for (int k = 0; k < param_.num_vars(); ++k) {
        NodeEntry& variable = values[param_.var_input(k)];
        COOPER_ASSIGN_OR_RETURN(variable,
                                Make("_select", absl::StrCat(step, "_var", k),
                                     {running, outputs[param_.num_out_data + k], variable}));
      }
    }
    Entries results;
    for (int j = 0; j < param_.num_out_data; ++j) {
      COOPER_ASSIGN_OR_RETURN(results.emplace_back(),
                              Stack(absl::StrCat("_out", j), std::move(rows[j])));
    }
    for (int k = 0; k < param_.num_vars(); ++k) results.push_back(values[param_.var_input(k)]);
    return results;
  }

 private:
  // Returns whether a step runs: the step before has run, `before`, null for the first one, and the
  // condition holds. The condition is not computed once it was false.
  absl::StatusOr<NodeEntry> Running(const Entries& values, const NodeEntry& before,
                                    const std::string& step) const {
    const ControlGraph& condition = graphs_[WhileLoopParam::kCondition];
    if (!before) return Bool(Copy(condition, values, step)[0], step);
    COOPER_ASSIGN_OR_RETURN(const Entries again, CopyUnder(condition, values, before, true,
                                                           step + "_condition_in", step));
    COOPER_ASSIGN_OR_RETURN(const NodeEntry holds, Bool(again[0], step));
    return Make("_select", step + "_running", {before, holds, before});
  }

  const WhileLoopParam& param_;
  std::vector<ControlGraph> graphs_;
};

class CondExpander : public Expander {
 public:
  CondExpander(const Node& node, Entries inputs)
      : Expander(node, std::move(inputs)), graphs_(CondGraphs(node.call())) {}

  absl::StatusOr<Entries> Run() const {
    COOPER_ASSIGN_OR_RETURN(
        const NodeEntry condition,
        Bool(Copy(graphs_[CondParam::kCondition], inputs(), "")[0], "_condition"));
    COOPER_ASSIGN_OR_RETURN(Entries results, CopyUnder(graphs_[CondParam::kThen], inputs(),
                                                       condition, true, "_then_in", ""));
    COOPER_ASSIGN_OR_RETURN(const Entries on_false, CopyUnder(graphs_[CondParam::kElse], inputs(),
                                                              condition, false, "_else_in", ""));
    for (size_t i = 0; i < results.size(); ++i) {
      COOPER_ASSIGN_OR_RETURN(results[i], Make("_select", absl::StrCat("_out", i),
                                               {condition, results[i], on_false[i]}));
    }
    return results;
  }

 private:
  std::vector<ControlGraph> graphs_;
};

// Returns how often a node copies its graphs.
int64_t StepsOf(const GraphFacts& facts, const Node& node) {
  if (IsOp(node, "_foreach")) return LengthOf(facts, node);
  if (IsOp(node, "_while_loop")) return node.call().param<WhileLoopParam>().max_iterations;
  return 1;
}

// Fails if a loop has no step or more than kMaxSteps, or if the copies of all graphs make a graph
// of more than kMaxNodes nodes.
absl::Status CheckSizes(const GraphFacts& facts) {
  int64_t nodes = facts.graph().num_nodes();
  for (const Node* node : facts.graph().nodes()) {
    if (!IsControlFlow(*node)) continue;
    const int64_t steps = StepsOf(facts, *node);
    if (steps < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(Describe(*node), ": its data has no steps: the first extent is ", steps));
    }
    if (steps > kMaxSteps) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Describe(*node), ": ", steps, " steps, expected at most ", kMaxSteps));
    }
    int64_t step = 0;
    // The nodes, at most one guard for each variable, and two nodes that choose and stack an
    // output.
    for (const Entries& outputs : *node->call().subgraphs) {
      step += 2 * IndexedGraph(outputs).num_nodes() + 2 * std::ssize(outputs);
    }
    if (steps > (kMaxNodes - nodes) / step) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Describe(*node), ": ", steps, " steps of ", step,
                       " nodes each make a graph of more than ", kMaxNodes, " nodes"));
    }
    nodes += steps * step;
  }
  return absl::OkStatus();
}

// Fails if a graph under a condition has auxiliary states.
absl::Status CheckNoAuxInputs(const Node& node) {
  const std::vector<int> aux = node.op()->AuxInputs(node.call());
  if (aux.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      Describe(node), ": '", node.inputs()[aux[0]].node->name(),
      "' is an auxiliary state of a graph that runs under a condition; a GPU runs such graphs "
      "whatever the condition is, and would change it: use a CPU, or compute it outside"));
}

absl::StatusOr<Entries> Expand(const GraphFacts& facts, const Node& node, Entries inputs,
                               bool all_run) {
  if (IsOp(node, "_foreach")) {
    std::vector<bool> vector_data;
    for (const NodeEntry& input : node.inputs()) {
      vector_data.push_back(facts.shape(input).rank() == 1);
    }
    return ForeachExpander(node, std::move(inputs), LengthOf(facts, node), std::move(vector_data))
        .Run();
  }
  if (all_run) COOPER_RETURN_IF_ERROR(CheckNoAuxInputs(node));
  if (IsOp(node, "_while_loop")) return WhileLoopExpander(node, std::move(inputs)).Run();
  return CondExpander(node, std::move(inputs)).Run();
}

}  // namespace

bool IsControlFlow(const Node& node) {
  return !node.is_variable() && node.op()->num_subgraphs() > 0 && node.op()->family() == "control";
}

absl::StatusOr<std::optional<GraphRewrite>> ExpandControlFlow(const GraphFacts& facts,
                                                              bool all_run) {
  COOPER_RETURN_IF_ERROR(CheckSizes(facts));
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    if (!IsControlFlow(node)) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    found = true;
    COOPER_ASSIGN_OR_RETURN(Entries outputs, Expand(facts, node, rebuilder.NewInputs(i), all_run));
    for (int k = 0; k < node.num_outputs(); ++k) {
      rebuilder.Replace({facts.owner(i), k}, std::move(outputs[k]));
    }
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
