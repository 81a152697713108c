#ifndef COOPER_EXECUTOR_RUN_PROGRAM_ARRAYS_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_ARRAYS_H_

// The arrays that a program is bound to, by slot, and whether they are those that it takes.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/compile/compiled_program.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The caller's arrays, by slot. Null arrays where a slot has none.
struct ProgramArrays {
  std::vector<NDArray> args;  // those of folded constants are the last
  std::vector<NDArray> auxs;
  std::vector<NDArray> grads;  // by slot of the argument
};

// "(32, 650) float32 cpu(0)", as NDArray::ToString.
std::string Describe(const Shape& shape, DType dtype, Context context);

// Whether there is an array, of this shape and dtype and in memory that the context reaches.
bool HasShapeAndType(const NDArray& array, const Shape& shape, DType dtype, Context context);

// Whether writing one of the arrays changes the other. No null array overlaps another.
bool Overlap(const NDArray& a, const NDArray& b);

// Memory in which a run writes gradients.
class WrittenRanges {
 public:
  explicit WrittenRanges(const std::vector<NDArray>& written);
  // Whether the array, which may be null, has bytes there.
  bool Overlap(const NDArray& array) const;

 private:
  // In the order of `begin`; of all up to this one the greatest end.
  struct Range {
    const char *begin, *end;
  };
  std::vector<Range> ranges_;
};

// Makes `arrays` as many as the program has slots. kInvalidArgument, naming it, for the first of
// another shape, dtype or context, and for an auxiliary state or a computed gradient that is
// missing. Arguments may be.
absl::Status CheckArrays(const CompiledProgram& compiled, ProgramArrays& arrays);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_ARRAYS_H_
