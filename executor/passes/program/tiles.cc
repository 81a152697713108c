// The pass that finds chains of element-wise operators.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/passes/program/program_passes.h"
#include "executor/plan/tile_plan.h"

namespace cooper {
namespace {

// Returns the elements of each array of the instruction; -1 if it must run on whole arrays.
int64_t ElementsOf(const Program& p, const Instruction& instruction) {
  // A GPU has no cache that keeps a tile.
  if (!p.contexts[instruction.context].is_cpu() || instruction.copy_from >= 0 ||
      instruction.computed_by_gradient ||
      std::max(instruction.inputs.size(), instruction.outputs.size()) > kMaxTiledArrays ||
      !instruction.node->op()->is_elementwise() ||
      p.contexts[instruction.context].device_type != DeviceType::kCpu ||
      p.HasCountedValues(instruction)) {
    return -1;
  }
  int64_t elements = -1;
  bool same = true;
  ForEachValue(instruction, [&](int value) {
    const int64_t n = p.values[value].shape.num_elements();
    same = same && (elements < 0 || n == elements);
    elements = n;
  });
  return same && elements > 0 ? elements : -1;
}

// The places in buffers that a chain reads and writes. Values at the same place have the same
// tiles. If two overlap otherwise, such as an array and a part that begins elsewhere, a tile of one
// may need elements that no tile of the other has computed yet.
class ChainedValues {
 public:
  explicit ChainedValues(const Program& p) : p_(p) {}

  bool CanJoin(const Instruction& instruction) const {
    bool can = true;
    ForEachPlace(instruction, [&](int buffer, const Place& place) {
      const auto it = places_.find(buffer);
      if (it == places_.end()) return;
      for (const Place& other : it->second) can = can && !Disturb(place, other);
    });
    return can;
  }

  void Join(const Instruction& instruction) {
    ForEachPlace(instruction, [&](int buffer, const Place& place) {
      std::vector<Place>& places = places_[buffer];
      for (Place& known : places) {
        if (known.begin != place.begin || known.end != place.end) continue;
        known.written = known.written || place.written;
        return;
      }
      places.push_back(place);
    });
  }

  void Clear() { places_.clear(); }

 private:
  struct Place {
    int64_t begin, end;  // bytes of the buffer
    bool written;
  };

  static bool Disturb(const Place& a, const Place& b) {
    if (a.begin == b.begin && a.end == b.end) return false;
    return (a.written || b.written) && a.begin < b.end && b.begin < a.end;
  }

  template <typename Fn>
  void ForEachPlace(const Instruction& instruction, const Fn& fn) const {
    const auto call = [&](int value, bool written) {
      const ProgramValue& v = p_.values[value];
      fn(v.buffer, Place{.begin = v.offset, .end = v.offset + v.bytes(), .written = written});
    };
    for (int input : instruction.inputs) call(input, false);
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      if (instruction.reqs[k] != WriteReq::kNull) call(instruction.outputs[k], true);
    }
  }

  const Program& p_;
  absl::flat_hash_map<int, std::vector<Place>> places_;  // by buffer
};

}  // namespace

void TileElementwise(Program& p) {
  int groups = 0;
  Instruction* last = nullptr;  // the last instruction that runs
  int64_t last_elements = -1;
  ChainedValues chained(p);  // the values of the chain of the last instruction
  for (Instruction& instruction : p.instructions) {
    if (!instruction.run) continue;
    const int64_t elements = ElementsOf(p, instruction);
    if (elements >= 0 && elements == last_elements && last->context == instruction.context &&
        last->backward == instruction.backward && last->conditions == instruction.conditions &&
        chained.CanJoin(instruction)) {
      if (last->tiles < 0) last->tiles = groups++;
      instruction.tiles = last->tiles;
    } else {
      chained.Clear();
    }
    if (elements >= 0) chained.Join(instruction);
    last = &instruction;
    last_elements = elements;
  }
}

}  // namespace cooper
