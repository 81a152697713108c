#include "symbol/control/while_loop.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/control/cut_graph.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/name_manager.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

// A graph of the loop, and its variables for the loop variables.
struct LoopGraph {
  CutGraph graph;
  std::vector<NodeEntry> vars;
};

// Calls `function` with new variables for the loop variables and returns its subgraph, whose nodes
// are marked with `name`.
template <typename Fn>
absl::StatusOr<LoopGraph> GraphOf(const Fn& function, const std::vector<NodeEntry>& outer,
                                  const std::string& name, const char* what) {
  const AttrScope scope(GraphMark(name));
  const std::vector<Symbol> inner = Placeholders(outer, name, "_var");
  LoopGraph loop;
  COOPER_ASSIGN_OR_RETURN(loop.vars, EntriesOf(inner, "loop variable"));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NodeEntry> outputs, EntriesOf(function(inner), what));
  loop.graph = Cut(outputs, name, loop.vars);
  COOPER_ASSIGN_OR_RETURN(loop.graph.outputs,
                          WithoutVariables(std::move(loop.graph.outputs), name));
  return loop;
}

absl::StatusOr<WhileLoopResult> Build(const WhileLoopConditionFn& condition,
                                      const WhileLoopBodyFn& body, const std::vector<Symbol>& vars,
                                      int64_t max_iterations, const std::string& name) {
  if (vars.empty()) return absl::InvalidArgumentError("there are no loop variables");
  COOPER_ASSIGN_OR_RETURN(const std::vector<NodeEntry> outer, EntriesOf(vars, "loop variable"));
  COOPER_ASSIGN_OR_RETURN(
      LoopGraph choice,
      GraphOf([&](const auto& inner) { return std::vector<Symbol>{condition(inner)}; }, outer,
              name + "_cond", "condition"));
  size_t num_out_data = 0, num_vars = 0;
  COOPER_ASSIGN_OR_RETURN(LoopGraph step, GraphOf(
                                              [&](const auto& inner) {
                                                WhileLoopStep result = body(inner);
                                                num_out_data = result.outputs.size();
                                                num_vars = result.vars.size();
                                                std::vector<Symbol> all = std::move(result.outputs);
                                                all.insert(all.end(), result.vars.begin(),
                                                           result.vars.end());
                                                return all;
                                              },
                                              outer, name + "_func", "value of the body"));
  if (num_vars != vars.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the body returned ", num_vars, " loop variables, expected ", vars.size()));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> positions,
                          PositionsOf(step.graph.outputs, step.vars, "loop variable"));
  SharedInputs inputs(outer);
  AttrMap attrs;
  attrs["cond_input_locs"] = PrintParamText(inputs.Add(choice.graph, choice.vars));
  attrs["func_input_locs"] = PrintParamText(inputs.Add(step.graph, step.vars));
  attrs["func_var_locs"] = PrintParamText(positions);
  attrs["max_iterations"] = absl::StrCat(max_iterations);
  attrs["num_out_data"] = absl::StrCat(num_out_data);
  attrs["num_outputs"] = absl::StrCat(step.graph.outputs.size());
  COOPER_ASSIGN_OR_RETURN(
      const NodePtr node,
      MakeControlNode("_while_loop", name, std::move(attrs), inputs.inputs(),
                      {std::move(choice.graph.outputs), std::move(step.graph.outputs)}));
  WhileLoopResult result;
  for (int i = 0; i < node->num_outputs(); ++i) {
    auto& list = i < static_cast<int>(num_out_data) ? result.outputs : result.vars;
    list.push_back(Symbol({NodeEntry{node, i}}));
  }
  return result;
}

}  // namespace

WhileLoopResult WhileLoop(const WhileLoopConditionFn& condition, const WhileLoopBodyFn& body,
                          const std::vector<Symbol>& vars, int64_t max_iterations,
                          const std::string& given_name) {
  const std::string name = NameManager::Current().Get(given_name, "while_loop");
  absl::StatusOr<WhileLoopResult> result = Build(condition, body, vars, max_iterations, name);
  if (result.ok()) return *std::move(result);
  const Symbol error(AddContext(result.status(), "_while_loop '", name, "'"));
  return {.outputs = {error}, .vars = {error}};
}

}  // namespace cooper
