// The pass that places parts of an array in the array's memory: parts that are cut from it are not
// copied, and parts that are concatenated to it are computed in place.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "executor/passes/program/program_passes.h"
#include "executor/passes/program/slice_layout.h"
#include "executor/plan/live_buffers.h"
#include "executor/plan/memory_plan.h"
#include "executor/program/program.h"
#include "ndarray/array/device.h"

namespace cooper {
namespace {

// Returns the largest planned memory in use at a time, in bytes, summed over contexts, each at its
// own peak. It is a lower bound for the arenas after operators run in place, without kernels'
// workspaces. Takes a copy of the program, which it changes.
int64_t PeakBytes(Program program) {
  ShareInPlace(program);
  int64_t bytes = 0;
  for (const std::vector<LiveRange>& ranges : FindLiveBuffers(program, nullptr).ranges) {
    bytes += LowerBound(ranges);
  }
  return bytes;
}

// An instruction whose parts could be placed, with the facts that depend on shapes only.
struct Candidate {
  int instruction;
  SliceLayout layout;
};

class SlicePlacer {
 public:
  explicit SlicePlacer(Program& p)
      : p_(p),
        writers_(p.CountWriters()),
        changes_(p.CountInputChanges()),
        values_of_(p.buffers.size()) {
    for (size_t v = 0; v < p.values.size(); ++v) {
      values_of_[p.values[v].buffer].push_back(static_cast<int>(v));
    }
  }

  // Places the parts of an instruction in the whole. Returns false if that is not possible.
  bool Place(const Candidate& candidate) {
    Instruction& instruction = p_.instructions[candidate.instruction];
    const SliceLayout& layout = candidate.layout;
    if (!CanPlace(instruction, layout)) return false;
    const int64_t base = p_.values[layout.whole].offset;
    for (size_t k = 0; k < layout.pieces.size(); ++k) {
      if (!IsWanted(instruction, layout, k)) continue;
      Move(BufferOf(layout.pieces[k]), BufferOf(layout.whole), base + layout.begin[k]);
    }
    instruction.run = false;
    return true;
  }

 private:
  int BufferOf(int value) const { return p_.values[value].buffer; }
  bool IsArena(int value) const {
    return p_.buffers[BufferOf(value)].kind == ProgramBuffer::Kind::kArena;
  }
  bool FillsBuffer(int value) const {
    const ProgramValue& v = p_.values[value];
    return v.offset == 0 && v.bytes() == p_.buffers[v.buffer].bytes;
  }

  // A part that is cut off may have no users.
  static bool IsWanted(const Instruction& instruction, const SliceLayout& layout, size_t piece) {
    return !layout.cuts || instruction.reqs[piece] != WriteReq::kNull;
  }

  bool CanPlace(const Instruction& instruction, const SliceLayout& layout) const {
    const ProgramValue& w = p_.values[layout.whole];
    const bool adds =
        std::count(instruction.reqs.begin(), instruction.reqs.end(), WriteReq::kAdd) > 0;
    if (adds || !IsArena(layout.whole)) return false;
    // An operator that changes its input in place would change parts together with the whole.
    if (changes_[w.buffer] > 0) return false;
    // Other writers of a concatenated array would overwrite its parts.
    if (!layout.cuts && (writers_[w.buffer] != 1 || !FillsBuffer(layout.whole))) return false;
    std::vector<int> buffers = {w.buffer};
    for (size_t i = 0; i < layout.pieces.size(); ++i) {
      if (!IsWanted(instruction, layout, i)) continue;
      const int buffer = BufferOf(layout.pieces[i]);
      // A part that occurs twice, itself or through a view, cannot be in two places.
      if (std::find(buffers.begin(), buffers.end(), buffer) != buffers.end()) return false;
      buffers.push_back(buffer);
      // Other writers of a part that was cut off would write to the whole.
      if (changes_[buffer] > 0 || (layout.cuts && writers_[buffer] != 1)) return false;
      if (!IsArena(layout.pieces[i]) || !FillsBuffer(layout.pieces[i]) ||
          p_.values[layout.pieces[i]].dtype != w.dtype ||
          (w.offset + layout.begin[i]) % kStorageAlignment != 0) {
        return false;
      }
    }
    return true;
  }

  // Moves all values of a buffer, including views, to another one.
  void Move(int from, int to, int64_t offset) {
    for (int value : values_of_[from]) {
      p_.values[value].buffer = to;
      p_.values[value].offset += offset;
      values_of_[to].push_back(value);
    }
    values_of_[from].clear();
    writers_[to] += writers_[from];
    changes_[to] += changes_[from];
  }

  Program& p_;
  std::vector<int> writers_;                 // number of writing instructions, by buffer
  std::vector<int> changes_;                 // number of those that change an input
  std::vector<std::vector<int>> values_of_;  // by buffer
};

// Returns how many programs to try. Each is copied and analysed, so a larger program gets fewer
// attempts, which bounds the time of binding.
int64_t MaxTries(const Program& p) {
  constexpr int64_t kInstructions = 1 << 17;
  return std::clamp<int64_t>(kInstructions / static_cast<int64_t>(p.instructions.size()), 3, 32);
}

// Places the parts of `candidates` if that does not increase the memory beyond `peak`, the
// program's PeakBytes, which it keeps up to date; otherwise tries each half of them, and so on.
// Parts of candidates without an attempt are copied.
void PlaceWhatPays(Program& p, absl::Span<const Candidate> candidates, int64_t& peak) {
  if (candidates.empty()) return;
  std::deque<absl::Span<const Candidate>> spans = {candidates};  // the largest spans first
  for (int64_t tries = MaxTries(p); tries > 0 && !spans.empty(); --tries) {
    const absl::Span<const Candidate> span = spans.front();
    spans.pop_front();
    Program placed = p;
    SlicePlacer placer(placed);
    bool any = false;
    for (const Candidate& candidate : span) any = placer.Place(candidate) || any;
    if (!any) continue;
    if (const int64_t now = PeakBytes(placed); now <= peak) {
      p = std::move(placed);
      peak = now;
    } else if (span.size() > 1) {
      spans.push_back(span.subspan(0, span.size() / 2));
      spans.push_back(span.subspan(span.size() / 2));
    }
  }
}

}  // namespace

void PlaceSlices(Program& p) {
  std::vector<Candidate> joins, cuts;
  for (size_t i = 0; i < p.instructions.size(); ++i) {
    if (p.HasCountedValues(p.instructions[i])) continue;
    std::optional<SliceLayout> layout = SliceLayoutOf(p, p.instructions[i]);
    if (!layout.has_value()) continue;
    std::vector<Candidate>& kind = layout->cuts ? cuts : joins;
    kind.push_back({.instruction = static_cast<int>(i), .layout = *std::move(layout)});
  }
  if (joins.empty() && cuts.empty()) return;
  int64_t peak = PeakBytes(p);
  PlaceWhatPays(p, joins, peak);
  PlaceWhatPays(p, cuts, peak);
}

}  // namespace cooper
