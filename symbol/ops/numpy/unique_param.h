#ifndef COOPER_SYMBOL_OPS_NUMPY_UNIQUE_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_UNIQUE_PARAM_H_

// Arrays and parameters of _npi_unique, which keeps one of equal elements, or of equal slices along
// an axis, in sorted order. Their number depends on values (symbol/schema/counted_shapes.h). The
// schema is in unique.cc. MXNet: src/operator/numpy/np_unique_op.h.
//
// Slices are ordered by their first different elements. -0 equals 0; NaN is larger than all other
// values and equals NaN. Without an axis data is flattened; a scalar counts as one element.
//
//   data (3, 1, 3), all flags   gives (1, 3), index (1, 0), inverse (1, 0, 1), counts (1, 2)

#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Input: data (...) of any dtype. Outputs: the different elements (u,), or slices, of data's shape
// but for extent u of the axis; then those that are asked for, int64, in this order: where each
// occurs first (u,), which of them each of the n elements or slices of data is (n,), and how often
// each occurs (u,); hidden, the shapes of the others. u is at most n. No gradient flows.
struct UniqueArrays {
  enum Input { kData };
  enum Output { kValues };
};

// Parameters of _npi_unique.
struct UniqueParam {
  bool return_index = false;
  bool return_inverse = false;
  bool return_counts = false;
  std::optional<int> axis;

  // Return the number of an output; -1 if it is not asked for.
  int index() const { return return_index ? 1 : -1; }
  int inverse() const { return return_inverse ? 1 + return_index : -1; }
  int counts() const { return return_counts ? 1 + return_index + return_inverse : -1; }
  int num_visible() const { return 1 + return_index + return_inverse + return_counts; }

  static void Declare(ParamDeclaration<UniqueParam>& d) {
    d.Field("return_index", &UniqueParam::return_index)
        .Doc("whether an output says where each element occurs first");
    d.Field("return_inverse", &UniqueParam::return_inverse)
        .Doc("whether an output says which of the different elements each element is");
    d.Field("return_counts", &UniqueParam::return_counts)
        .Doc("whether an output says how often each element occurs");
    d.Field("axis", &UniqueParam::axis)
        .Doc("the axis whose slices are compared; None: data is flattened first");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_UNIQUE_PARAM_H_
