#include "symbol/control/cond.h"

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

// Calls `branch` and returns its subgraph, whose nodes are marked with `name`.
absl::StatusOr<CutGraph> GraphOf(const CondBranchFn& branch, const std::string& name,
                                 const char* what) {
  const AttrScope scope(GraphMark(name));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> outputs, EntriesOf(branch(), what));
  CutGraph graph = Cut(outputs, name, {});
  COOPER_ASSIGN_OR_RETURN(graph.outputs, WithoutVariables(std::move(graph.outputs), name));
  return graph;
}

absl::StatusOr<std::vector<Symbol>> Build(const Symbol& condition, const CondBranchFn& then_branch,
                                          const CondBranchFn& else_branch,
                                          const std::string& name) {
  COOPER_ASSIGN_OR_RETURN(CutGraph choice, GraphOf([&] { return std::vector<Symbol>{condition}; },
                                                   name + "_pred", "condition"));
  COOPER_ASSIGN_OR_RETURN(CutGraph on_true, GraphOf(then_branch, name + "_then", "then output"));
  COOPER_ASSIGN_OR_RETURN(CutGraph on_false, GraphOf(else_branch, name + "_else", "else output"));
  if (on_true.outputs.empty() || on_true.outputs.size() != on_false.outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the branches have ", on_true.outputs.size(), " and ", on_false.outputs.size(),
                     " outputs, expected equally many, at least one"));
  }
  SharedInputs inputs({});
  AttrMap attrs;
  attrs["cond_input_locs"] = PrintParamText(inputs.Add(choice, {}));
  attrs["then_input_locs"] = PrintParamText(inputs.Add(on_true, {}));
  attrs["else_input_locs"] = PrintParamText(inputs.Add(on_false, {}));
  attrs["num_outputs"] = absl::StrCat(on_true.outputs.size());
  COOPER_ASSIGN_OR_RETURN(const NodePtr node,
                          MakeControlNode("_cond", name, std::move(attrs), inputs.inputs(),
                                          {std::move(choice.outputs), std::move(on_true.outputs),
                                           std::move(on_false.outputs)}));
  std::vector<Symbol> results;
  results.reserve(static_cast<size_t>(node->num_outputs()));
  for (int i = 0; i < node->num_outputs(); ++i) results.push_back(Symbol({NodeEntry{node, i}}));
  return results;
}

}  // namespace

std::vector<Symbol> Cond(const Symbol& condition, const CondBranchFn& then_branch,
                         const CondBranchFn& else_branch, const std::string& given_name) {
  const std::string name = NameManager::Current().Get(given_name, "cond");
  absl::StatusOr<std::vector<Symbol>> result = Build(condition, then_branch, else_branch, name);
  if (result.ok()) return *std::move(result);
  return {Symbol(AddContext(result.status(), "_cond '", name, "'"))};
}

}  // namespace cooper
