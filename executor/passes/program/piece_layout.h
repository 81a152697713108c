#ifndef COOPER_EXECUTOR_PASSES_PROGRAM_PIECE_LAYOUT_H_
#define COOPER_EXECUTOR_PASSES_PROGRAM_PIECE_LAYOUT_H_

// Where the pieces lie that an operator cuts from an array, or puts an array together from.

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/program/program.h"

namespace cooper {

struct PieceLayout {
  bool cuts = false;           // else it puts the pieces together
  int whole = -1;              // value
  std::vector<int> pieces;     // values
  std::vector<int64_t> begin;  // of each piece, bytes from the whole's first
};

// Nullopt if the instruction does neither, or if one of the pieces would not be in one place within
// the whole: one that has some columns of several rows, or every second row.
std::optional<PieceLayout> PieceLayoutOf(const Program& p, const Instruction& instruction);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_PROGRAM_PIECE_LAYOUT_H_
