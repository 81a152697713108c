#include "executor/plan/tile_plan.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "glog/logging.h"
#include "ndarray/threads/element_ranges.h"

namespace cooper {
namespace {

// A tile of three or four float32 arrays fits into a first-level cache. With fewer elements the
// calls of the steps would dominate.
constexpr int64_t kTileElements = 2048;
// The least work of a thread, in elements times steps, as in an element-wise kernel; and the least
// number of elements of a part.
constexpr int64_t kPartWork = 16384;
constexpr int64_t kMinPart = 512;
// Slot sizes are multiples of a cache line.
constexpr int64_t kSlotUnit = 64;

int64_t RoundUp(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

std::vector<TileChain> FindChains(const Program& program) {
  std::vector<TileChain> chains;
  for (int i = 0; i < static_cast<int>(program.instructions.size()); ++i) {
    const Instruction& instruction = program.instructions[i];
    if (instruction.tiles < 0) continue;
    if (instruction.tiles == static_cast<int>(chains.size())) chains.push_back({.begin = i});
    CHECK_EQ(instruction.tiles + 1, static_cast<int>(chains.size())) << Describe(instruction);
    TileChain& chain = chains.back();
    chain.end = i + 1;
    chain.steps.push_back(i);
    ForEachValue(instruction,
                 [&](int value) { chain.elements = program.values[value].shape.num_elements(); });
  }
  return chains;
}

// Returns for each buffer the chain that alone uses it, or a negative number.
std::vector<int> OwnersOfBuffers(const Program& program) {
  constexpr int kNobody = -1, kSeveral = -2;
  std::vector<int> owner(program.buffers.size(), kNobody);
  const auto use = [&](int value, int by) {
    int& chain = owner[program.values[value].buffer];
    chain = chain == kNobody || chain == by ? by : kSeveral;
    // A buffer that is used through sub-buffers cannot be tiled.
    const ProgramValue& used = program.values[value];
    if (used.bytes() != program.buffers[used.buffer].bytes) chain = kSeveral;
  };
  for (const Instruction& instruction : program.instructions) {
    if (!instruction.run) continue;
    const int by = instruction.tiles < 0 ? kSeveral : instruction.tiles;
    ForEachValue(instruction, [&](int value) { use(value, by); });
  }
  for (int output : program.outputs) use(output, kSeveral);
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].kind != ProgramBuffer::Kind::kArena) owner[i] = kSeveral;
  }
  return owner;
}

void SplitIntoParts(TileChain& chain, int threads, int64_t max_tile) {
  const auto steps = static_cast<int64_t>(chain.steps.size());
  const int64_t part = std::max(kMinPart, kPartWork / steps);
  chain.parts = static_cast<int>(std::clamp<int64_t>(chain.elements / part, 1, threads));
  const int64_t longest = RoundUp((chain.elements + chain.parts - 1) / chain.parts, kRangeUnit);
  const int64_t tiles = (longest + max_tile - 1) / max_tile;
  chain.tile_elements = RoundUp((longest + tiles - 1) / tiles, kRangeUnit);
}

// Assigns slots to the buffers that only the chain uses. A slot is reused after the last use of its
// buffer.
void TakeSlots(const Program& program, const std::vector<int>& owner, TileChain& chain,
               std::vector<int>& slot_of_buffer) {
  const int number = program.instructions[chain.begin].tiles;
  const auto for_each_own = [&](int step, const auto& fn) {
    ForEachValue(program.instructions[step], [&](int value) {
      const int buffer = program.values[value].buffer;
      if (owner[buffer] == number) fn(buffer);
    });
  };
  absl::flat_hash_map<int, int> last_use;
  int64_t widest = 0;  // bytes of an element
  for (int step : chain.steps) {
    for_each_own(step, [&](int buffer) {
      last_use[buffer] = step;
      widest = std::max(widest, program.buffers[buffer].bytes / chain.elements);
    });
  }
  std::vector<int> free;
  for (int step : chain.steps) {
    for_each_own(step, [&](int buffer) {
      int& slot = slot_of_buffer[buffer];
      if (slot >= 0) return;
      if (free.empty()) {
        slot = chain.slots++;
      } else {
        slot = free.back();
        free.pop_back();
      }
    });
    for_each_own(step, [&](int buffer) {
      const auto last = last_use.find(buffer);
      if (last == last_use.end() || last->second != step) return;
      free.push_back(slot_of_buffer[buffer]);
      last_use.erase(last);
    });
  }
  chain.slot_bytes = RoundUp(chain.tile_elements * widest, kSlotUnit);
}

}  // namespace

int64_t TileChain::PartBegin(int part) const { return RangeBegin(elements, part, parts); }

TilePlan PlanTiles(const Program& program, int threads, const TilePlan* larger) {
  TilePlan plan{.chains = FindChains(program),
                .slot_of_buffer = std::vector<int>(program.buffers.size(), -1)};
  if (plan.chains.empty()) return plan;
  const std::vector<int> owner = OwnersOfBuffers(program);
  for (size_t i = 0; i < plan.chains.size(); ++i) {
    TileChain& chain = plan.chains[i];
    const int64_t max_tile = larger == nullptr ? kTileElements : larger->chains[i].tile_elements;
    SplitIntoParts(chain, std::max(1, threads), max_tile);
    TakeSlots(program, owner, chain, plan.slot_of_buffer);
  }
  return plan;
}

}  // namespace cooper
