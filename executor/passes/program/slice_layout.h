#ifndef COOPER_EXECUTOR_PASSES_PROGRAM_SLICE_LAYOUT_H_
#define COOPER_EXECUTOR_PASSES_PROGRAM_SLICE_LAYOUT_H_

// Describes operators that cut an array into parts, or concatenate parts to an array.

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/program/program.h"

namespace cooper {

// The whole, its parts and their offsets. Values are numbers of the program's values. Views of an
// axis need no copy where the parts are contiguous, which program passes use.
struct SliceLayout {
  bool cuts = false;           // whether it cuts the whole; otherwise it concatenates the parts
  int whole = -1;              // a value
  std::vector<int> pieces;     // values
  std::vector<int64_t> begin;  // offset of each part in the whole, in bytes
};

// Returns nullopt if the instruction does neither, or if a part would not be contiguous in the
// whole, such as some columns of several rows, or every second row.
std::optional<SliceLayout> SliceLayoutOf(const Program& p, const Instruction& instruction);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_PROGRAM_SLICE_LAYOUT_H_
