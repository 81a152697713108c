#include "executor/program/program.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {

bool Program::has_counted_outputs() const {
  return absl::c_any_of(outputs, [this](int value) { return values[value].counted; });
}

bool Program::HasCountedValues(const Instruction& instruction) const {
  const auto counted = [this](int value) { return values[value].counted; };
  return absl::c_any_of(instruction.inputs, counted) ||
         absl::c_any_of(instruction.outputs, counted);
}

std::vector<int> Program::CountReads() const {
  std::vector<int> reads(values.size(), 0);
  for (const Instruction& instruction : instructions) {
    for (int input : instruction.inputs) ++reads[input];
  }
  for (int output : outputs) ++reads[output];
  return reads;
}

std::vector<int> Program::CountInputChanges() const {
  std::vector<int> changes(buffers.size(), 0);
  for (const Instruction& instruction : instructions) {
    if (!instruction.run) continue;
    const Node& node = *instruction.node;
    for (int k : node.op()->WrittenInputs(node.call())) {
      ++changes[values[instruction.inputs[k]].buffer];
    }
  }
  return changes;
}

std::vector<int> Program::CountWriters() const {
  std::vector<int> writers = CountInputChanges();
  for (const Instruction& instruction : instructions) {
    if (!instruction.run) continue;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      if (instruction.reqs[k] != WriteReq::kNull) ++writers[values[instruction.outputs[k]].buffer];
    }
  }
  return writers;
}

std::vector<int> Program::Producers() const {
  std::vector<int> producers(values.size(), -1);
  for (size_t i = 0; i < instructions.size(); ++i) {
    for (int output : instructions[i].outputs) producers[output] = static_cast<int>(i);
  }
  return producers;
}

std::vector<ArrayView> ViewsOf(const Program& program, const std::vector<int>& values) {
  std::vector<ArrayView> views;
  views.reserve(values.size());
  for (int value : values) {
    const ProgramValue& v = program.values[value];
    views.push_back({.data = nullptr, .shape = v.shape, .dtype = v.dtype});
  }
  return views;
}

std::string DescribeInputs(absl::Span<const ArrayView> inputs) {
  return absl::StrCat("; inputs ",
                      absl::StrJoin(inputs, ", ", [](std::string* out, const ArrayView& view) {
                        absl::StrAppend(out, view.shape.ToString(), " ", DTypeName(view.dtype));
                      }));
}

std::string Describe(const Instruction& instruction) { return Describe(*instruction.node); }

}  // namespace cooper
