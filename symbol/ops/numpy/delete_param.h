#ifndef COOPER_SYMBOL_OPS_NUMPY_DELETE_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_DELETE_PARAM_H_

// Arrays and parameters of _npi_delete, which leaves out slices of an axis: one, those of a slice
// of Python, or those that an array lists. In the last form their number depends on values
// (symbol/schema/counted_shapes.h). The schema is in delete.cc. MXNet:
// src/operator/numpy/np_delete_op-inl.h.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "symbol/ops/shape/slice_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: arr (...); obj (...) of any dtype, if neither int_ind nor step is given: the positions
// that are left out. Positions beyond the axis, negative ones among them, leave out nothing, and
// repeated ones no more. Outputs: arr without the slices; hidden, with obj only, its shape.
//
//   arr (1, 2, 3, 4), obj (1, 1, 9)   gives (1, 3, 4)
struct DeleteArrays {
  enum Input { kArr, kObj };
  enum Output { kOutput, kShapes };
};
// Inputs of the gradient: ograd, which is copied to the slices that were kept, the others get 0;
// and obj, if the operator has it, which has no gradient. MXNet has none at all.
struct DeleteGradientArrays {
  enum Input { kOgrad, kObj };
};

// Parameters of _npi_delete.
struct DeleteParam {
  // Python's start:stop:step. start and stop count only with step. A step of 0 fails with
  // kInvalidArgument in shape inference.
  std::optional<int64_t> start, stop, step;
  // One position; negative ones count from the end. Others fail with kInvalidArgument in shape
  // inference. Counts only without step.
  std::optional<int64_t> int_ind;
  // Without it arr is flattened. With it a scalar arr stays as it is.
  std::optional<int> axis;

  // Returns whether obj lists the positions.
  bool takes_positions() const { return !step.has_value() && !int_ind.has_value(); }

  // Returns the indices of an axis of extent `len` that are left out. Requires !takes_positions().
  // Fails with kInvalidArgument as described above.
  absl::StatusOr<SliceRange> range(int64_t len) const {
    if (step.has_value()) {
      if (*step == 0) return absl::InvalidArgumentError("step is 0");
      return SliceParam{.begin = {start}, .end = {stop}, .step = {step}}.range(0, len);
    }
    if (*int_ind < -len || *int_ind >= len) {
      return absl::InvalidArgumentError(
          absl::StrCat("int_ind ", *int_ind, " is out of range for an axis of extent ", len));
    }
    return SliceRange{.begin = *int_ind < 0 ? *int_ind + len : *int_ind, .extent = 1};
  }

  static void Declare(ParamDeclaration<DeleteParam>& d) {
    d.Field("start", &DeleteParam::start).Doc("with step: the first index that is left out");
    d.Field("stop", &DeleteParam::stop).Doc("with step: the index that ends the slice");
    d.Field("step", &DeleteParam::step).Doc("the distance of indices that are left out");
    d.Field("int_ind", &DeleteParam::int_ind).Doc("without step: the index that is left out");
    d.Field("axis", &DeleteParam::axis).Doc("along which axis; None: arr is flattened first");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_DELETE_PARAM_H_
