// The pass that lets operators write over what nobody reads afterwards.

#include <numeric>
#include <vector>

#include "absl/algorithm/container.h"
#include "executor/compile/program_passes/program_passes.h"

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
  // Whether an operator may write an output over one of its inputs element by element: nothing else
  // that it reads there may lie elsewhere in the array, as another piece of it does.
  const auto fits = [&](const Instruction& instruction, int in, int out) {
    const ProgramValue& input = p.values[in];
    if (!InOnePlace(input, p.values[out]) || input.dtype != p.values[out].dtype) return false;
    return absl::c_all_of(instruction.inputs, [&](int other) {
      return place(other) != place(in) || InOnePlace(p.values[other], input);
    });
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
          p.buffers[to].bytes != p.buffers[from].bytes ||
          !fits(instruction, instruction.inputs[i], instruction.outputs[o])) {
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
