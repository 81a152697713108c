#include "executor/peak_bytes.h"

#include <vector>

#include "executor/memory_plan.h"
#include "executor/passes.h"

namespace cooper {

int64_t PeakBytes(Program p) {
  ShareInPlace(p);
  std::vector<LiveRange> ranges;
  std::vector<int> range_of(p.buffers.size(), -1);
  const auto touch = [&](int value, int step) {
    const int buffer = p.values[value].buffer;
    if (p.buffers[buffer].kind != ProgramBuffer::Kind::kArena) return;
    if (range_of[buffer] < 0) {
      range_of[buffer] = static_cast<int>(ranges.size());
      ranges.push_back({.size = p.buffers[buffer].bytes, .first = step, .last = step});
    }
    ranges[range_of[buffer]].last = step;
  };
  const int end = static_cast<int>(p.instructions.size());
  for (int i = 0; i < end; ++i) {
    if (p.instructions[i].run) ForEachValue(p.instructions[i], [&](int value) { touch(value, i); });
  }
  for (int output : p.outputs) touch(output, end);
  return LowerBound(ranges);
}

}  // namespace cooper
