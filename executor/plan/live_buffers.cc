#include "executor/plan/live_buffers.h"

#include <algorithm>
#include <cstdint>

namespace cooper {

LiveBuffers FindLiveBuffers(const Program& program, const TilePlan* tiles) {
  LiveBuffers live{.ranges = std::vector<std::vector<LiveRange>>(program.contexts.size()),
                   .range_of_buffer = std::vector<int>(program.buffers.size(), -1)};
  const auto use = [&](int value, int first, int last) {
    const int index = program.values[value].buffer;
    const ProgramBuffer& buffer = program.buffers[index];
    if (buffer.kind != ProgramBuffer::Kind::kArena) return;
    if (tiles != nullptr && tiles->slot_of_buffer[index] >= 0) return;
    std::vector<LiveRange>& ranges = live.ranges[buffer.context];
    int& range = live.range_of_buffer[index];
    if (range < 0) {
      range = static_cast<int>(ranges.size());
      ranges.push_back({.size = buffer.bytes, .first = first, .alignment = 1});
    }
    ranges[range].last = last;
    const int64_t element_bytes = static_cast<int64_t>(SizeOf(program.values[value].dtype));
    ranges[range].alignment =
        std::max(ranges[range].alignment, PlannedAlignment(buffer.bytes, element_bytes));
  };
  const int end = static_cast<int>(program.instructions.size());
  for (int i = 0; i < end; ++i) {
    const Instruction& instruction = program.instructions[i];
    if (!instruction.run) continue;
    int first = i, last = i;
    if (tiles != nullptr && instruction.tiles >= 0) {
      first = tiles->chains[instruction.tiles].begin;
      last = tiles->chains[instruction.tiles].end - 1;
    }
    ForEachValue(instruction, [&](int value) { use(value, first, last); });
  }
  for (int output : program.outputs) use(output, end, end);
  return live;
}

}  // namespace cooper
