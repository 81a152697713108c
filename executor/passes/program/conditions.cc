// The pass that finds out which instructions need not run while a condition is false.

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "executor/passes/program/program_passes.h"
#include "symbol/ops/control/select_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

using Conditions = std::vector<RunCondition>;  // sorted by value

Conditions Both(const Conditions& a, const Conditions& b) {
  Conditions both;
  absl::c_set_intersection(a, b, std::back_inserter(both));
  return both;
}

Conditions Either(const Conditions& a, const Conditions& b) {
  Conditions either;
  absl::c_set_union(a, b, std::back_inserter(either));
  return either;
}

// Returns the condition under which an operator reads its input `k`; nullopt if it always does.
std::optional<RunCondition> ConditionOf(const Instruction& instruction, int k) {
  const Node& node = *instruction.node;
  if (IsOp(node, "_select") && k != SelectArrays::kCondition) {
    return RunCondition{instruction.inputs[SelectArrays::kCondition], k == SelectArrays::kOnTrue};
  }
  if (IsOp(node, "_keep_if") && k == GuardArrays::kData) {
    return RunCondition{instruction.inputs[GuardArrays::kCondition],
                        node.call().param<GuardParam>().expected};
  }
  return std::nullopt;
}

// Returns by value the conditions under whose _guard it was computed.
std::vector<Conditions> GuardsOf(const Program& p) {
  std::vector<Conditions> guards(p.values.size());
  for (const Instruction& instruction : p.instructions) {
    Conditions own;
    for (size_t k = 0; k < instruction.inputs.size(); ++k) {
      Conditions of_input = guards[instruction.inputs[k]];
      if (const auto condition = ConditionOf(instruction, static_cast<int>(k))) {
        of_input.erase(std::remove(of_input.begin(), of_input.end(), *condition), of_input.end());
      }
      own = Either(own, of_input);
    }
    const Node& node = *instruction.node;
    if (IsOp(node, "_guard")) {
      own = Either(own, {{instruction.inputs[GuardArrays::kCondition],
                          node.call().param<GuardParam>().expected}});
    }
    for (int output : instruction.outputs) guards[output] = own;
  }
  return guards;
}

}  // namespace

void FindConditions(Program& p) {
  // A condition in the memory of a GPU is unknown to the host.
  if (absl::c_any_of(p.contexts, [](const Context& context) { return !context.is_cpu(); }) ||
      absl::c_none_of(p.instructions, [](const Instruction& instruction) {
        return IsOp(*instruction.node, "_select") || IsOp(*instruction.node, "_keep_if");
      })) {
    return;
  }
  const std::vector<int> producers = p.Producers();
  const std::vector<Conditions> guards = GuardsOf(p);
  // By value: conditions that hold wherever it is read; nullopt if nothing reads it.
  std::vector<std::optional<Conditions>> reads(p.values.size());
  const auto read = [&](int value, const Conditions& conditions) {
    if (value < 0) return;
    reads[value] = reads[value].has_value() ? Both(*reads[value], conditions) : conditions;
  };
  for (int output : p.outputs) read(output, {});
  for (const ProgramGradient& gradient : p.gradients) read(gradient.value, {});
  for (int i = static_cast<int>(p.instructions.size()) - 1; i >= 0; --i) {
    Instruction& instruction = p.instructions[i];
    std::optional<Conditions> conditions;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      const auto& of_output = reads[instruction.outputs[k]];
      if (instruction.reqs[k] == WriteReq::kNull || !of_output.has_value()) continue;
      conditions = conditions.has_value() ? Both(*conditions, *of_output) : *of_output;
    }
    instruction.conditions = std::move(conditions).value_or(Conditions());
    if (!instruction.node->op()->WrittenInputs(instruction.node->call()).empty()) {
      // It changes an array whoever reads its outputs, unless it stands in a branch itself.
      Conditions inside;
      for (int input : instruction.inputs) inside = Either(inside, guards[input]);
      instruction.conditions = Both(instruction.conditions, inside);
    }
    auto& own = instruction.conditions;
    own.erase(std::remove_if(own.begin(), own.end(),
                             [&](const RunCondition& c) { return producers[c.value] >= i; }),
              own.end());
    for (size_t k = 0; k < instruction.inputs.size(); ++k) {
      const auto condition = ConditionOf(instruction, static_cast<int>(k));
      read(instruction.inputs[k], condition.has_value() ? Either(own, {*condition}) : own);
    }
  }
  // A condition may itself be computed under others: those come first.
  for (Instruction& instruction : p.instructions) {
    absl::c_stable_sort(instruction.conditions, [&](const RunCondition& a, const RunCondition& b) {
      return producers[a.value] < producers[b.value];
    });
  }
}

}  // namespace cooper
