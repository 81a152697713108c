#include "executor/passes/graph/step_stacker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_facts.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/split_param.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {
namespace {

// Returns the node that splits an array of three axes along one of its first two axes into exactly
// these steps, in order; otherwise null.
const Node* SplitOf(const std::vector<NodeEntry>& steps) {
  const Node* split = steps[0].node.get();
  if (!IsOp(*split, "SliceChannel")) return nullptr;
  const auto& param = split->call().param<SliceChannelParam>();
  const int n = static_cast<int>(steps.size());
  if (!param.squeeze_axis || param.num_outputs != n || param.axis < 0 || param.axis > 1) {
    return nullptr;
  }
  for (int i = 0; i < n; ++i) {
    if (steps[i].node.get() != split || steps[i].index != i) return nullptr;
  }
  return split;
}

// Returns operand `k` of the nodes of all steps.
std::vector<NodeEntry> Operands(const std::vector<NodeEntry>& steps, size_t k) {
  std::vector<NodeEntry> operands;
  operands.reserve(steps.size());
  for (const NodeEntry& step : steps) operands.push_back(step.node->inputs()[k]);
  return operands;
}

// Returns whether all steps have the first one's operator, with as many inputs.
bool AllOfOneOperator(const std::vector<NodeEntry>& steps) {
  const Node& first = *steps[0].node;
  return std::all_of(steps.begin(), steps.end(), [&](const NodeEntry& step) {
    const Node& node = *step.node;
    return !node.is_variable() && node.op() == first.op() && step.index == 0 &&
           node.inputs().size() == first.inputs().size();
  });
}

// Returns whether operands and result of a call with two inputs have one shape. Operators that
// broadcast do not require it: after a new first axis, their operands' axes would be aligned
// differently.
bool HasOneShape(const OpCall& call) {
  PartialShape lhs, rhs, output = {2, 3};
  PartialShape* const inputs[] = {&lhs, &rhs};
  PartialShape* const outputs[] = {&output};
  ShapeContext context(call, inputs, outputs, /*forward_inputs=*/{});
  return call.op->shape()(context).ok() && lhs == output && rhs == output;
}

absl::StatusOr<NodeEntry> Reverse(const NodeEntry& stacked) {
  return MakeEntry("reverse", absl::StrCat(stacked.node->name(), "_reverse"), {stacked},
                   {{"axis", "(0,)"}});
}

}  // namespace

StepStacker::Key StepStacker::KeyOf(const std::vector<NodeEntry>& steps) {
  Key key;
  key.reserve(steps.size());
  for (const NodeEntry& step : steps) key.emplace_back(step.node.get(), step.index);
  return key;
}

// Iterative, because graphs may be deep.
absl::StatusOr<NodeEntry> StepStacker::StackSplitSteps(const std::vector<NodeEntry>& steps) {
  std::vector<std::vector<NodeEntry>> wanted = {steps};  // each is an operand of the one before
  while (!wanted.empty()) {
    Key key = KeyOf(wanted.back());
    if (!made_.contains(key)) {
      std::vector<NodeEntry> operands;
      COOPER_ASSIGN_OR_RETURN(NodeEntry entry, Make(wanted.back(), &operands));
      if (!operands.empty()) {
        wanted.push_back(std::move(operands));
        continue;
      }
      made_[std::move(key)] = {.steps = wanted.back(), .entry = std::move(entry)};
    }
    wanted.pop_back();
  }
  return made_.at(KeyOf(steps)).entry;
}

absl::StatusOr<NodeEntry> StepStacker::Make(const std::vector<NodeEntry>& steps,
                                            std::vector<NodeEntry>* operands) const {
  if (const Node* split = SplitOf(steps); split != nullptr) {
    const NodeEntry& whole = split->inputs()[0];
    if (split->call().param<SliceChannelParam>().axis == 0) return whole;
    return MakeEntry("SwapAxis", absl::StrCat(split->name(), "_steps"), {whole},
                     {{"dim1", "0"}, {"dim2", "1"}});
  }
  std::vector<NodeEntry> backwards(steps.rbegin(), steps.rend());
  if (const auto found = made_.find(KeyOf(backwards)); found != made_.end()) {
    if (!found->second.entry) return NodeEntry();
    return Reverse(found->second.entry);
  }
  if (SplitOf(backwards) != nullptr) {
    *operands = std::move(backwards);
    return NodeEntry();
  }
  return MakeOperation(steps, operands);
}

absl::StatusOr<NodeEntry> StepStacker::MakeOperation(const std::vector<NodeEntry>& steps,
                                                     std::vector<NodeEntry>* operands) const {
  const Node& first = *steps[0].node;
  if (!AllOfOneOperator(steps)) return NodeEntry();
  AttrMap attrs;
  if (IsOp(first, "Concat")) {
    // Features are concatenated: their axis follows the new one.
    for (const NodeEntry& step : steps) {
      if (step.node->call().param<ConcatParam>().dim != 1) return NodeEntry();
    }
    attrs = {{"dim", "2"}, {"num_args", absl::StrCat(first.inputs().size())}};
  } else if (!first.op()->is_elementwise() || first.op()->params() != nullptr ||
             first.inputs().size() != 2 || !HasOneShape(first.call())) {
    return NodeEntry();
  }
  std::vector<NodeEntry> inputs;
  for (size_t k = 0; k < first.inputs().size(); ++k) {
    std::vector<NodeEntry> operand = Operands(steps, k);
    const auto found = made_.find(KeyOf(operand));
    if (found == made_.end()) {
      *operands = std::move(operand);
      return NodeEntry();
    }
    if (!found->second.entry) return NodeEntry();
    inputs.push_back(found->second.entry);
  }
  return MakeEntry(first.op()->name().c_str(), absl::StrCat(first.name(), "_steps"),
                   std::move(inputs), std::move(attrs));
}

absl::StatusOr<NodeEntry> StepStacker::Stack(const std::vector<NodeEntry>& steps,
                                             int64_t features) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry stacked, StackSplitSteps(steps));
  if (stacked) return stacked;
  const std::string& name = steps[0].node->name();
  NodeEntry rows = steps[0];
  if (steps.size() > 1) {
    COOPER_ASSIGN_OR_RETURN(rows,
                            MakeEntry("Concat", absl::StrCat(name, "_concat"), steps,
                                      {{"dim", "0"}, {"num_args", absl::StrCat(steps.size())}}));
  }
  COOPER_ASSIGN_OR_RETURN(
      NodeEntry entry,
      MakeEntry("Reshape", absl::StrCat(name, "_steps"), {rows},
                {{"shape", absl::StrCat("(", steps.size(), ", -1, ", features, ")")}}));
  made_[KeyOf(steps)] = {.steps = steps, .entry = entry};
  return entry;
}

absl::StatusOr<NodePtr> SplitIntoSteps(const NodeEntry& stacked, size_t steps,
                                       const std::string& name) {
  return MakeNode("SliceChannel", name, {stacked},
                  {{"axis", "0"}, {"num_outputs", absl::StrCat(steps)}, {"squeeze_axis", "True"}});
}

}  // namespace cooper
