#ifndef COOPER_EXECUTOR_RUN_PROGRAM_ARRAYS_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_ARRAYS_H_

// The arrays that a program is bound to, and checks of their shapes, dtypes, contexts and overlaps.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/compile/compiled_program.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The caller's arrays, by slot. A slot without an array has a null array. Handles that share the
// caller's memory.
struct ProgramArrays {
  std::vector<NDArray> args;  // those of folded constants are the last
  std::vector<NDArray> auxs;
  std::vector<NDArray> grads;  // by slot of the argument
};

// Returns "(32, 650) float32 cpu(0)", the format of NDArray::ToString.
std::string Describe(const Shape& shape, DType dtype, Context context);

// Returns whether `array` is not null, has this shape and dtype, and is in memory that `context`
// can access.
bool HasShapeAndType(const NDArray& array, const Shape& shape, DType dtype, Context context);

// Returns whether writing one of the arrays changes the other. A null array overlaps no array.
bool Overlap(const NDArray& a, const NDArray& b);

// The memory of arrays that a run writes, for fast overlap checks. O(n log n) time to make, for n
// arrays.
class WrittenRanges {
 public:
  // Takes the memory of `written`, whose null arrays are skipped. Keeps no references.
  explicit WrittenRanges(const std::vector<NDArray>& written);
  // Returns whether `array`, which may be null, has bytes in this memory. O(log n) time.
  bool Overlap(const NDArray& array) const;

 private:
  // Ordered by `begin`. `end` is the largest end of this and all earlier ranges.
  struct Range {
    const char *begin, *end;
  };
  std::vector<Range> ranges_;
};

// Resizes `arrays` to the slots of the program and checks them. kInvalidArgument, naming it, for
// the first array of another shape, dtype or context, and for a missing auxiliary state or computed
// gradient. Arguments may be missing.
absl::Status CheckArrays(const CompiledProgram& compiled, ProgramArrays& arrays);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_ARRAYS_H_
