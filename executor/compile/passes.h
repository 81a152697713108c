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

struct Pass {
  const char* name;
  // One of the two. A graph pass gives nullopt if there is nothing to do; an error is a bug of it.
  absl::StatusOr<std::optional<GraphRewrite>> (*over_graph)(const GraphFacts& facts,
                                                            const CanRunFn& can_run) = nullptr;
  void (*over_program)(Program&) = nullptr;
  // Without it a program is not complete: it cannot be left out.
  bool required = false;
  // With it a node as it was written may not be computed for itself, once: a monitor cannot see it.
  bool merges_nodes = false;
};

// In the order in which they are run: those over graphs first.
const std::vector<Pass>& AllPasses();

// The names of the passes that can be disabled, in the order of AllPasses().
std::vector<std::string> PassNames();

// kInvalidArgument, with the names there are, if `disabled` holds another one than PassNames().
absl::Status CheckPassNames(const std::set<std::string>& disabled);

// `disabled`, and the passes that merge nodes.
std::set<std::string> WithoutMergingPasses(std::set<std::string> disabled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PASSES_H_
