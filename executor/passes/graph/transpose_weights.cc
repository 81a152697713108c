#include "executor/passes/graph/transpose_weights.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

enum Input { kData, kWeight };

// Returns the operator that takes the product's weight transposed; empty if there is none.
std::string WithTransposedWeight(const Node& node) {
  if (IsOp(node, "FullyConnected")) return "_fully_connected_transposed";
  if (IsOp(node, "_fc_softmax_output")) return "_fc_softmax_output_transposed";
  return "";
}

// Returns whether the product has one row, which is as fast with either layout of the weight.
bool HasOneRow(const GraphFacts& facts, const Node& node) {
  const int64_t input_dim = facts.shape(node.inputs()[kWeight])[1];
  return facts.shape(node.inputs()[kData]).num_elements() <= input_dim;
}

absl::StatusOr<NodeEntry> MakeProduct(const GraphRebuilder& rebuilder, int i, const Node& node,
                                      const std::string& op) {
  std::vector<NodeEntry> inputs = rebuilder.NewInputs(i);
  COOPER_ASSIGN_OR_RETURN(
      inputs[kWeight],
      MakeEntry("transpose", absl::StrCat(node.name(), "_weight_transposed"), {inputs[kWeight]}));
  return MakeEntry(op, node.name(), std::move(inputs), node.attrs());
}

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> TransposeWeights(const GraphFacts& facts,
                                                             const CanRunFn& can_run) {
  if (facts.has_gradients() || !can_run("transpose")) return std::nullopt;
  GraphRebuilder rebuilder(facts);
  bool found = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    const std::string op = node.is_variable() ? "" : WithTransposedWeight(node);
    if (op.empty() || !can_run(op) || !facts.is_constant(node.inputs()[kWeight]) ||
        facts.is_constant({facts.owner(i), 0}) || HasOneRow(facts, node)) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(NodeEntry product, MakeProduct(rebuilder, i, node, op));
    rebuilder.Replace({facts.owner(i), 0}, std::move(product));
    found = true;
  }
  if (!found) return std::nullopt;
  return rebuilder.Finish();
}

}  // namespace cooper
