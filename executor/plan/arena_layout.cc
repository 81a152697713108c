#include "executor/plan/arena_layout.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/plan/live_buffers.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

int64_t ArenaLayout::OffsetOf(const Program& program, int value) const {
  const ProgramValue& v = program.values[value];
  const int64_t begin = OffsetOf(program.buffers[v.buffer].context, range_of_buffer[v.buffer]);
  return begin < 0 ? -1 : begin + v.offset;
}

int64_t ArenaLayout::num_ranges() const {
  size_t ranges = 0;
  for (const Region& region : regions) ranges += region.ranges.size();
  return static_cast<int64_t>(ranges);
}

absl::StatusOr<ArenaLayout> LayOutArenas(const Program& program, const TilePlan& tiles,
                                         absl::Span<const int64_t> workspace_bytes) {
  LiveBuffers live = FindLiveBuffers(program, &tiles);
  ArenaLayout layout;
  layout.range_of_buffer = std::move(live.range_of_buffer);
  layout.regions.resize(program.contexts.size());
  for (size_t i = 0; i < layout.regions.size(); ++i) {
    layout.regions[i].ranges = std::move(live.ranges[i]);
  }
  const auto add_workspace = [&](int context, int64_t bytes, int first, int last) {
    if (bytes <= 0) return -1;
    std::vector<LiveRange>& ranges = layout.regions[context].ranges;
    ranges.push_back({.size = bytes,
                      .first = first,
                      .last = last,
                      .alignment = PlannedAlignment(bytes, kLargestElement)});
    return static_cast<int>(ranges.size()) - 1;
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const int step = static_cast<int>(i);
    layout.range_of_instruction.push_back(
        add_workspace(program.instructions[i].context, workspace_bytes[i], step, step));
  }
  for (const TileChain& chain : tiles.chains) {
    layout.range_of_chain.push_back(add_workspace(program.instructions[chain.begin].context,
                                                  chain.workspace_bytes(), chain.begin,
                                                  chain.end - 1));
  }
  for (ArenaLayout::Region& region : layout.regions) {
    COOPER_ASSIGN_OR_RETURN(region.plan, PlanMemory(region.ranges));
    COOPER_RETURN_IF_ERROR(CheckMemoryPlan(region.ranges, region.plan));
  }
  return layout;
}

absl::Status CheckFits(const Program& program, const TilePlan& tiles,
                       absl::Span<const int64_t> workspace_bytes, const ArenaLayout& layout) {
  const auto check = [&](const auto& what, int context, int range, int64_t bytes) -> absl::Status {
    const int64_t room = range < 0 ? 0 : layout.regions[context].ranges[range].size;
    if (bytes <= room) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what(), " needs ", bytes, " bytes, ", room, " are planned for it"));
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    COOPER_RETURN_IF_ERROR(
        check([&] { return absl::StrCat("the workspace of ", Describe(instruction)); },
              instruction.context, layout.range_of_instruction[i], workspace_bytes[i]));
    if (!instruction.run) continue;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      if (instruction.reqs[k] == WriteReq::kNull) continue;
      const int buffer = program.values[instruction.outputs[k]].buffer;
      if (program.buffers[buffer].kind != ProgramBuffer::Kind::kArena ||
          tiles.slot_of_buffer[buffer] >= 0) {
        continue;
      }
      COOPER_RETURN_IF_ERROR(
          check([&] { return absl::StrCat("output ", k, " of ", Describe(instruction)); },
                program.buffers[buffer].context, layout.range_of_buffer[buffer],
                program.buffers[buffer].bytes));
    }
  }
  for (size_t i = 0; i < tiles.chains.size(); ++i) {
    const TileChain& chain = tiles.chains[i];
    COOPER_RETURN_IF_ERROR(check([] { return "a chain of element-wise operators"; },
                                 program.instructions[chain.begin].context,
                                 layout.range_of_chain[i], chain.workspace_bytes()));
  }
  return absl::OkStatus();
}

}  // namespace cooper
