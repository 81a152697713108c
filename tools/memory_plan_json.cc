#include "tools/memory_plan_json.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/plan/arena_layout.h"
#include "executor/program/program.h"
#include "nlohmann/json.hpp"
#include "symbol/graph/symbol.h"

namespace cooper {

int64_t PlacedMemory::BytesAt(int step) const {
  int64_t bytes = 0;
  for (const PlacedValue& value : values) {
    bytes += value.first <= step && step <= value.last ? value.bytes : 0;
  }
  return bytes;
}

int PlacedMemory::PeakStep() const {
  std::vector<int64_t> change(num_steps + 1);
  for (const PlacedValue& value : values) {
    change[value.first] += value.bytes;
    change[value.last + 1] -= value.bytes;
  }
  int peak = 0;
  int64_t bytes = 0, most = 0;
  for (int step = 0; step < num_steps; ++step) {
    bytes += change[step];
    if (bytes <= most) continue;
    most = bytes;
    peak = step;
  }
  return peak;
}

PlacedMemory PlacedMemoryOf(const CompiledProgram& compiled) {
  const Program& program = compiled.program();
  const ArenaLayout& layout = compiled.layout();
  const ArenaLayout::Region& region = layout.regions[0];
  PlacedMemory memory{.arena_bytes = region.plan.arena_size,
                      .num_steps = static_cast<int>(program.instructions.size()),
                      .num_forward = compiled.num_forward()};
  for (size_t i = 0; i < region.ranges.size(); ++i) {
    memory.values.push_back({.bytes = region.ranges[i].size,
                             .offset = region.plan.offsets[i],
                             .first = region.ranges[i].first,
                             // Outputs are live for one step longer, for the caller.
                             .last = std::min(region.ranges[i].last, memory.num_steps - 1),
                             .kind = region.ranges[i].first < memory.num_forward
                                         ? PlacedValue::Kind::kActivation
                                         : PlacedValue::Kind::kGradient});
  }
  // Values share buffers: a buffer has the name of its largest value.
  std::vector<int64_t> largest(region.ranges.size(), -1);
  for (const ProgramValue& value : program.values) {
    if (value.buffer < 0 || program.buffers[value.buffer].context != 0) continue;
    const int range = layout.range_of_buffer[value.buffer];
    if (range < 0 || value.bytes() <= largest[range] || !value.entry) continue;
    largest[range] = value.bytes();
    memory.values[range].name = OutputName(value.entry);
  }
  const auto name_scratch = [&](int context, int range, int instruction) {
    if (context != 0 || range < 0) return;
    memory.values[range].name =
        absl::StrCat("scratch memory of ", Describe(program.instructions[instruction]));
    memory.values[range].kind = PlacedValue::Kind::kWorkspace;
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    name_scratch(program.instructions[i].context, layout.range_of_instruction[i],
                 static_cast<int>(i));
  }
  for (size_t i = 0; i < layout.range_of_chain.size(); ++i) {
    const int begin = compiled.tiles().chains[i].begin;
    name_scratch(program.instructions[begin].context, layout.range_of_chain[i], begin);
  }
  return memory;
}

std::string MemoryPlanJson(const std::string& title, const PlacedMemory& memory) {
  using Json = nlohmann::ordered_json;
  constexpr const char* kKinds[] = {"activation", "gradient", "workspace"};
  const int peak = memory.PeakStep();
  Json json = {{"kind", "memory_plan"},
               {"title", title},
               {"arena_bytes", memory.arena_bytes},
               {"num_steps", memory.num_steps},
               {"num_forward", memory.num_forward},
               {"peak_step", peak},
               {"peak_bytes", memory.BytesAt(peak)},
               {"values", Json::array()}};
  for (const PlacedValue& value : memory.values) {
    json["values"].push_back({{"name", value.name},
                              {"kind", kKinds[static_cast<int>(value.kind)]},
                              {"bytes", value.bytes},
                              {"offset", value.offset},
                              {"first", value.first},
                              {"last", value.last}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cooper
