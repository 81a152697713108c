#include "executor/graph_passes/node_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/graph_passes/graph_facts.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {
namespace {

absl::StatusOr<NodeEntry> MakeEntry(const char* op, const std::string& name,
                                    std::vector<NodeEntry> inputs, AttrMap attrs = {}) {
  COOPER_ASSIGN_OR_RETURN(NodePtr node, MakeNode(op, name, std::move(inputs), std::move(attrs)));
  return NodeEntry{std::move(node), 0};
}

// The first of the steps' nodes, if it cuts an array of three axes into them, from the first step
// or from the last.
const Node* SplitOf(const std::vector<NodeEntry>& steps, bool backwards) {
  const Node* split = steps[0].node.get();
  if (!IsOp(*split, "SliceChannel")) return nullptr;
  const auto& param = split->call().param<SliceChannelParam>();
  const int n = static_cast<int>(steps.size());
  if (!param.squeeze_axis || param.num_outputs != n || param.axis < 0 || param.axis > 1) {
    return nullptr;
  }
  for (int i = 0; i < n; ++i) {
    if (steps[i].node.get() != split || steps[i].index != (backwards ? n - 1 - i : i)) {
      return nullptr;
    }
  }
  return split;
}

// The operands `k` of all steps' nodes.
std::vector<NodeEntry> Operands(const std::vector<NodeEntry>& steps, size_t k) {
  std::vector<NodeEntry> operands;
  operands.reserve(steps.size());
  for (const NodeEntry& step : steps) operands.push_back(step.node->inputs()[k]);
  return operands;
}

// Whether all steps are calls of the first one's operator, with as many inputs, and with the same
// attributes if it has some.
bool AllAlike(const std::vector<NodeEntry>& steps) {
  const Node& first = *steps[0].node;
  for (const NodeEntry& step : steps) {
    const Node& node = *step.node;
    if (node.is_variable() || node.op() != first.op() || step.index != 0 ||
        node.inputs().size() != first.inputs().size()) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<NodeEntry> StackOperation(const std::vector<NodeEntry>& steps) {
  const Node& first = *steps[0].node;
  if (first.is_variable() || !AllAlike(steps)) return NodeEntry();
  AttrMap attrs;
  if (IsOp(first, "Concat")) {
    // Features beside each other: an axis further behind the new one.
    for (const NodeEntry& step : steps) {
      if (step.node->call().param<ConcatParam>().dim != 1) return NodeEntry();
    }
    attrs = {{"dim", "2"}, {"num_args", absl::StrCat(first.inputs().size())}};
  } else if (!IsOp(first, "elemwise_add") && !IsOp(first, "elemwise_mul") &&
             !IsOp(first, "elemwise_sub")) {
    return NodeEntry();
  }
  std::vector<NodeEntry> operands;
  for (size_t k = 0; k < first.inputs().size(); ++k) {
    COOPER_ASSIGN_OR_RETURN(NodeEntry operand, StackWhatWasSplit(Operands(steps, k)));
    if (!operand) return NodeEntry();
    operands.push_back(std::move(operand));
  }
  return MakeEntry(first.op()->name().c_str(), absl::StrCat(first.name(), "_steps"),
                   std::move(operands), std::move(attrs));
}

}  // namespace

absl::StatusOr<NodePtr> MakeNode(const char* op, const std::string& name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs) {
  OpCall call;
  COOPER_ASSIGN_OR_RETURN(call.op, FindOp(op));
  call.attrs = std::move(attrs);
  if (call.op->params() != nullptr) {
    COOPER_ASSIGN_OR_RETURN(call.params, call.op->params()->Parse(call.attrs));
  }
  return Node::Make({.name = name,
                     .call = std::move(call),
                     .inputs = std::move(inputs),
                     .forward = nullptr,
                     .variables = nullptr});
}

absl::StatusOr<NodeEntry> StackWhatWasSplit(const std::vector<NodeEntry>& steps) {
  for (const bool backwards : {false, true}) {
    const Node* split = SplitOf(steps, backwards);
    if (split == nullptr) continue;
    NodeEntry stacked = split->inputs()[0];
    if (split->call().param<SliceChannelParam>().axis == 1) {
      COOPER_ASSIGN_OR_RETURN(stacked, MakeEntry("SwapAxis", absl::StrCat(split->name(), "_steps"),
                                                 {stacked}, {{"dim1", "0"}, {"dim2", "1"}}));
    }
    if (!backwards || steps.size() == 1) return stacked;
    return MakeEntry("reverse", absl::StrCat(split->name(), "_reverse"), {stacked},
                     {{"axis", "(0,)"}});
  }
  return StackOperation(steps);
}

absl::StatusOr<NodeEntry> StackSteps(const std::vector<NodeEntry>& steps, int64_t features) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry stacked, StackWhatWasSplit(steps));
  if (stacked) return stacked;
  const std::string& name = steps[0].node->name();
  NodeEntry rows = steps[0];
  if (steps.size() > 1) {
    COOPER_ASSIGN_OR_RETURN(rows,
                            MakeEntry("Concat", absl::StrCat(name, "_concat"), steps,
                                      {{"dim", "0"}, {"num_args", absl::StrCat(steps.size())}}));
  }
  return MakeEntry("Reshape", absl::StrCat(name, "_steps"), {rows},
                   {{"shape", absl::StrCat("(", steps.size(), ", -1, ", features, ")")}});
}

}  // namespace cooper
