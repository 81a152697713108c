// The pass that puts the pieces of an array where the array is: what is cut from it is not copied,
// and what it is put together from is made in its place.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/passes.h"
#include "executor/peak_bytes.h"
#include "ndarray/device.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {
namespace {

// An instruction between a whole and pieces of it along an axis.
struct PieceOp {
  bool cuts;  // else it puts the inputs together
  int axis;
};

std::optional<PieceOp> PieceOpOf(const Instruction& instruction) {
  const std::string& op = instruction.node->op()->name();
  const OpCall& call = instruction.node->call();
  if (op == "SliceChannel" || op == "_backward_SliceChannel") {
    return PieceOp{op == "SliceChannel", call.param<SliceChannelParam>().axis};
  }
  if (op == "_split_v2" || op == "_split_v2_backward") {
    return PieceOp{op == "_split_v2", call.param<SplitParam>().axis};
  }
  if (op == "Concat" || op == "_backward_Concat") {
    return PieceOp{op != "Concat", call.param<ConcatParam>().dim};
  }
  if (op == "stack" || op == "_backward_stack") {
    return PieceOp{op != "stack", call.param<StackParam>().axis};
  }
  return std::nullopt;
}

class PiecePlacer {
 public:
  explicit PiecePlacer(Program& p)
      : p_(p), writers_(p.CountWriters()), values_of_(p.buffers.size()) {
    for (size_t v = 0; v < p.values.size(); ++v) {
      values_of_[p.values[v].buffer].push_back(static_cast<int>(v));
    }
  }

  // Places all pieces of cuts, or of what is put together. Whether there were any.
  bool Place(bool cuts) {
    bool placed = false;
    for (Instruction& instruction : p_.instructions) {
      if (!instruction.run || instruction.copy_from >= 0) continue;
      const std::optional<PieceOp> op = PieceOpOf(instruction);
      if (!op.has_value() || op->cuts != cuts) continue;
      const auto& wholes = cuts ? instruction.inputs : instruction.outputs;
      const auto& pieces = cuts ? instruction.outputs : instruction.inputs;
      if (!CanPlace(instruction, *op, wholes[0], pieces)) continue;
      int64_t at = p_.values[wholes[0]].offset;
      for (size_t i = 0; i < pieces.size(); ++i) {
        if (IsWanted(instruction, *op, i)) Move(BufferOf(pieces[i]), BufferOf(wholes[0]), at);
        at += p_.values[pieces[i]].bytes();
      }
      instruction.run = false;
      placed = true;
    }
    return placed;
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

  // A piece that is cut off may be needed by nobody.
  static bool IsWanted(const Instruction& instruction, const PieceOp& op, size_t piece) {
    return !op.cuts || instruction.reqs[piece] != WriteReq::kNull;
  }

  bool CanPlace(const Instruction& instruction, const PieceOp& op, int whole,
                const std::vector<int>& pieces) const {
    const ProgramValue& w = p_.values[whole];
    const int axis = op.axis < 0 ? op.axis + w.shape.rank() : op.axis;
    const bool adds =
        std::count(instruction.reqs.begin(), instruction.reqs.end(), WriteReq::kAdd) > 0;
    // With an outer extent a piece is not in one place.
    if (adds || w.shape.Product(0, axis) != 1 || !IsArena(whole)) return false;
    // What else writes into an array that is put together would write over its pieces.
    if (!op.cuts && (writers_[w.buffer] != 1 || !FillsBuffer(whole))) return false;
    std::vector<int> buffers = {w.buffer};
    int64_t at = w.offset;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (IsWanted(instruction, op, i)) {
        const int buffer = BufferOf(pieces[i]);
        // A piece that is needed twice, itself or through a view, cannot be in two places.
        if (std::find(buffers.begin(), buffers.end(), buffer) != buffers.end()) return false;
        buffers.push_back(buffer);
        // What else is written into a piece that was cut off would go into the whole.
        if (op.cuts && writers_[buffer] != 1) return false;
        if (!IsArena(pieces[i]) || !FillsBuffer(pieces[i]) ||
            p_.values[pieces[i]].dtype != w.dtype || at % kStorageAlignment != 0) {
          return false;
        }
      }
      at += p_.values[pieces[i]].bytes();
    }
    return at == w.offset + w.bytes();
  }

  // All values of a buffer, views among them, go into another one.
  void Move(int from, int to, int64_t offset) {
    for (int value : values_of_[from]) {
      p_.values[value].buffer = to;
      p_.values[value].offset += offset;
      values_of_[to].push_back(value);
    }
    values_of_[from].clear();
    writers_[to] += writers_[from];
  }

  Program& p_;
  std::vector<int> writers_;                 // instructions that write, by buffer
  std::vector<std::vector<int>> values_of_;  // by buffer
};

}  // namespace

void PlacePieces(Program& p) {
  for (const bool cuts : {false, true}) {
    const auto has_pieces = [cuts](const Instruction& instruction) {
      const std::optional<PieceOp> op = PieceOpOf(instruction);
      return op.has_value() && op->cuts == cuts;
    };
    // Most programs have none, and need no copy.
    if (std::none_of(p.instructions.begin(), p.instructions.end(), has_pieces)) continue;
    Program placed = p;
    if (PiecePlacer(placed).Place(cuts) && PeakBytes(placed) <= PeakBytes(p)) {
      p = std::move(placed);
    }
  }
}

}  // namespace cooper
