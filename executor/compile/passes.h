#ifndef COOPER_EXECUTOR_COMPILE_PASSES_H_
#define COOPER_EXECUTOR_COMPILE_PASSES_H_

// Lists all passes by name. Graph passes (executor/passes/graph/) rewrite the symbol before its
// gradient graph is built; program passes (executor/passes/program/) rewrite the program.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"
#include "executor/program/program.h"

namespace cooper {

// A pass: exactly one of the two functions is set. Both are deterministic and know no other state.
struct Pass {
  const char* name;
  // A graph pass returns nullopt if it changes nothing. An error is a bug of the pass.
  absl::StatusOr<std::optional<GraphRewrite>> (*over_graph)(const GraphFacts& facts,
                                                            const CanRunFn& can_run) = nullptr;
  void (*over_program)(Program&) = nullptr;
  // If true, a program is incomplete without this pass, so it cannot be disabled.
  bool required = false;
  // If true, the pass may merge nodes: a node of the written symbol is then not computed on its
  // own, and a monitor cannot see it.
  bool merges_nodes = false;
};

// Returns all passes in the order in which they run: graph passes first.
const std::vector<Pass>& AllPasses();

// The names of the passes that can be disabled, in the order of AllPasses().
std::vector<std::string> PassNames();

// Returns kInvalidArgument, listing the valid names, if `disabled` has a name that is not in
// PassNames().
absl::Status CheckPassNames(const std::set<std::string>& disabled);

// Returns `disabled` and the names of all passes that merge nodes: the passes to skip while a
// monitor watches each node.
std::set<std::string> WithoutMergingPasses(std::set<std::string> disabled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PASSES_H_
