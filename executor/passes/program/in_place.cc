// The pass that lets operators write over what nobody reads afterwards.

#include <numeric>
#include <vector>

#include "executor/passes/program/program_passes.h"

namespace cooper {
namespace {

bool InOnePlace(const ProgramValue& a, const ProgramValue& b) {
  return a.offset == b.offset && a.bytes() == b.bytes();
}

}  // namespace

void ShareInPlace(Program& p) {
  const std::vector<int> writers = p.CountWriters();
  // Where the values of a buffer have gone, at their old offsets; itself if they stayed.
  std::vector<int> moved(p.buffers.size());
  std::iota(moved.begin(), moved.end(), 0);
  auto place = [&](int value) { return moved[p.values[value].buffer]; };
  std::vector<int> remaining(p.buffers.size(), 0);  // reads still to come
  for (const Instruction& instruction : p.instructions) {
    if (!instruction.run) continue;
    for (int input : instruction.inputs) ++remaining[p.values[input].buffer];
  }
  for (int output : p.outputs) ++remaining[p.values[output].buffer];
  std::vector<int> taken_at(p.buffers.size(), -1);  // the instruction that wrote over it last
  // Whether an operator may write output `o` over its input `i`. What else it reads there must be
  // the same elements, of which it still needs only those that it has not yet written over: another
  // piece of the array lies elsewhere, and an operator that is not element-wise may read its other
  // input in any order, as an assignment does that gets one value as both of its inputs.
  const auto fits = [&](const Instruction& instruction, int i, int o) {
    const int in = instruction.inputs[i];
    const ProgramValue& input = p.values[in];
    const ProgramValue& output = p.values[instruction.outputs[o]];
    if (!InOnePlace(input, output) || input.dtype != output.dtype) return false;
    const bool elementwise = instruction.node->op()->is_elementwise();
    for (int k = 0; k < static_cast<int>(instruction.inputs.size()); ++k) {
      const int other = instruction.inputs[k];
      if (k == i || place(other) != place(in)) continue;
      if (!elementwise || !InOnePlace(p.values[other], input)) return false;
    }
    return true;
  };
  for (int index = 0; index < static_cast<int>(p.instructions.size()); ++index) {
    const Instruction& instruction = p.instructions[index];
    if (!instruction.run) continue;
    for (int input : instruction.inputs) --remaining[place(input)];
    for (const auto& [i, o] : instruction.node->op()->in_place()) {
      if (i >= static_cast<int>(instruction.inputs.size()) ||
          o >= static_cast<int>(instruction.outputs.size()) ||
          instruction.reqs[o] != WriteReq::kWrite) {
        continue;
      }
      const int to = place(instruction.inputs[i]);
      const int from = place(instruction.outputs[o]);
      // One output per input and one input per output.
      if (from != p.values[instruction.outputs[o]].buffer || taken_at[to] == index) continue;
      if (to == from || remaining[to] != 0 || writers[from] != 1 ||
          p.buffers[to].kind != ProgramBuffer::Kind::kArena ||
          p.buffers[from].kind != ProgramBuffer::Kind::kArena ||
          p.buffers[to].bytes != p.buffers[from].bytes || !fits(instruction, i, o)) {
        continue;
      }
      // This is the only writer of `from`, and its readers come later: nothing has to be moved.
      moved[from] = to;
      taken_at[to] = index;
      remaining[to] = remaining[from];
    }
  }
  for (ProgramValue& value : p.values) value.buffer = moved[value.buffer];
}

}  // namespace cooper
