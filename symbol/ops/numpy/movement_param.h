#ifndef COOPER_SYMBOL_OPS_NUMPY_MOVEMENT_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_MOVEMENT_PARAM_H_

// Parameters of NumPy operators that move elements and that older operators do not have
// (movement.cc). MXNet: src/operator/numpy/np_matrix_op-inl.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/ops/shape/diag_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _np_moveaxis: axis source[k] of a becomes axis destination[k] of the output; the
// others keep their order. Negative axes count from the end. The shape rule checks them.
struct MoveaxisParam {
  std::vector<int64_t> source, destination;

  static void Declare(ParamDeclaration<MoveaxisParam>& d) {
    d.Field("source", &MoveaxisParam::source).Required().Doc("axes of a");
    d.Field("destination", &MoveaxisParam::destination)
        .Required()
        .Doc("the axes of the output that they become");
  }

  // Returns the axis of a that becomes axis `i` of the output. Requires the lists that the shape
  // rule accepts: of one length, each of different axes. O(rank^2) time.
  int source_axis(int i, int rank) const {
    const auto at = [rank](const std::vector<int64_t>& axes, size_t k) {
      return static_cast<int>(axes[k] < 0 ? axes[k] + rank : axes[k]);
    };
    const auto position = [&](const std::vector<int64_t>& axes, int axis) {
      size_t k = 0;
      while (k < axes.size() && at(axes, k) != axis) ++k;
      return k;
    };
    const size_t moved = position(destination, i);
    if (moved < destination.size()) return at(source, moved);
    int before = 0;  // axes of the output before i that keep their order
    for (int j = 0; j < i; ++j) before += position(destination, j) == destination.size() ? 1 : 0;
    int axis = 0;
    for (;; ++axis) {
      if (position(source, axis) < source.size()) continue;
      if (before-- == 0) return axis;
    }
  }
};

// Parameters of _np_roll: elements move by shift[k] along axis[k], or by one number along all these
// axes; what leaves an axis enters at its other end. Without axis the array is rolled as a vector.
// Positive shifts move elements to higher indices. Shifts larger than an extent count modulo it.
struct RollParam {
  // shift must have a value. axis without one means all elements as one vector; then shift has one
  // number.
  std::optional<std::vector<int64_t>> shift, axis;

  static void Declare(ParamDeclaration<RollParam>& d) {
    d.Field("shift", &RollParam::shift).Required().Doc("one number, or one for each axis");
    d.Field("axis", &RollParam::axis).Doc("different axes; None: the array as a vector");
  }

  // Returns the number of places for the k-th axis. `shift` must be set, which the shape rule
  // checks.
  int64_t shift_of(size_t k) const { return (*shift)[shift->size() == 1 ? 0 : k]; }
};

// Parameters of _npi_rot90: k turns by 90 degrees, from the first of two axes towards the second.
// The shape rule checks the axes.
struct Rot90Param {
  int k = 1;
  std::optional<std::vector<int64_t>> axes;

  static void Declare(ParamDeclaration<Rot90Param>& d) {
    d.Field("k", &Rot90Param::k).Doc("number of turns, which may be negative");
    d.Field("axes", &Rot90Param::axes).Doc("the plane's two axes; None: the first two");
  }

  // Returns the turns that are left after full circles: 0 to 3.
  int turns() const { return (k % 4 + 4) % 4; }
  // Returns the first (0) or second (1) axis of the plane, in an array of `rank` axes.
  int plane(int i, int rank) const {
    const int64_t axis = axes.has_value() ? (*axes)[i] : i;
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
};

// Parameters of _np_diag and _np_diagonal, which add no members to those of diag. They differ in
// the attributes' names: _np_diag has k, _np_diagonal has offset and the two axes. The kernels of
// diag read both as a DiagParam. A diagonal outside of the matrix is empty.
struct NumpyDiagParam : DiagParam {
  NumpyDiagParam() { outside_is_empty = true; }

  static void Declare(ParamDeclaration<NumpyDiagParam>& d) {
    d.Field("k", &NumpyDiagParam::k)
        .Min(-(int64_t{1} << 31))
        .Max(int64_t{1} << 31)
        .Doc("which diagonal: above the main one, or below if negative");
  }
};
struct NumpyDiagonalParam : DiagParam {
  NumpyDiagonalParam() { outside_is_empty = true; }

  static void Declare(ParamDeclaration<NumpyDiagonalParam>& d) {
    d.Field("offset", &NumpyDiagonalParam::k)
        .Min(-(int64_t{1} << 31))
        .Max(int64_t{1} << 31)
        .Doc("which diagonal: above the main one, or below if negative");
    d.Field("axis1", &NumpyDiagonalParam::axis1).Doc("the axis of rows");
    d.Field("axis2", &NumpyDiagonalParam::axis2).Doc("the axis of columns");
  }
};

// Parameters of _npi_hstack, _npi_vstack, _npi_dstack and _npi_column_stack. hstack joins along
// axis 1, or 0 for vectors; vstack along axis 0, with vectors as rows; dstack along axis 2, and
// column_stack along axis 1, with vectors as columns.
struct NumpyStackParam {
  int num_args = 0;

  static void Declare(ParamDeclaration<NumpyStackParam>& d) {
    d.Field("num_args", &NumpyStackParam::num_args).Required().Min(1).Doc("number of inputs");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_MOVEMENT_PARAM_H_
