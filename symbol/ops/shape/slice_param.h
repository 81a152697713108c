#ifndef COOPER_SYMBOL_OPS_SHAPE_SLICE_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_SLICE_PARAM_H_

// Parameters of the slicing operators (slice.cc): slice, _slice_assign, _slice_assign_scalar,
// slice_axis, slice_like and Crop. RangeAlong returns, for an axis of the whole array, the indices
// in the slice (SliceRange); schemas, kernels and passes share these functions. The gradients write
// ograd into zeros; assignments have none. MXNet: src/operator/tensor/matrix_op-inl.h.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of _slice_assign: the output is lhs with rhs in the slice; it may overwrite lhs. rhs has
// the slice's shape.
struct SliceAssignArrays {
  enum Input { kLhs, kRhs };
};

// Parameters of slice: Python's begin:end:step for the leading axes; the other axes are taken
// whole. data has at least as many axes as begin; begin and end have one length, and step is empty
// or as long. A step of 0 fails with kInvalidArgument in shape inference.
//
//   data (10, 4), begin=(8,), end=(2,), step=(-2,)   takes rows 8, 6 and 4
struct SliceParam {
  using Indices = std::vector<std::optional<int64_t>>;
  // A null element is Python's None; the descriptions below say what each None stands for. An axis
  // without an element of `step` has step 1.
  Indices begin, end, step;

  static void Declare(ParamDeclaration<SliceParam>& d) { DeclareFields(d); }
  template <typename P>  // P derives from this
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<Indices>("begin", &P::begin)
        .Required()
        .Doc("first index of each axis; None: the end of the axis that step comes from");
    d.template Field<Indices>("end", &P::end)
        .Required()
        .Doc("the index of each axis that is no longer taken; None: all to the axis' end");
    d.template Field<Indices>("step", &P::step).Doc("distance of indices; None: 1");
  }

  // Returns the indices of an axis of extent `len`, clamped as in Python, so that all are in range;
  // an empty slice has the extent 0. Indices below 0 count from the end. A step must not be 0.
  SliceRange range(int axis, int64_t len) const {
    if (axis >= static_cast<int>(begin.size())) return {0, 1, len};
    const auto& step_at = axis < static_cast<int>(step.size()) ? step[axis] : std::nullopt;
    if (len == 0) return {0, step_at.value_or(1), 0};
    // A larger step also selects only the first index.
    const int64_t s = std::clamp(step_at.value_or(1), -len, len);
    int64_t b = begin[axis].value_or(s < 0 ? len - 1 : 0);
    int64_t e = end[axis].value_or(s < 0 ? -1 : len);
    if (b < 0) b += len;
    if (e < 0 && end[axis].has_value()) e += len;
    if (b < 0 && s > 0) b = 0;
    if (b > len - 1 && s < 0) b = len - 1;
    e = std::clamp<int64_t>(e, -1, len);
    if (b < 0 || b > len - 1) return {0, s, 0};
    if (s > 0) return {b, s, e > b ? (e - b - 1) / s + 1 : 0};
    return {b, s, e < b ? (b - e - 1) / -s + 1 : 0};
  }
};

// Parameters of _slice_assign_scalar: data with `scalar` in the slice. The output may overwrite
// data.
struct SliceAssignScalarParam : SliceParam {
  double scalar = 0;

  static void Declare(ParamDeclaration<SliceAssignScalarParam>& d) {
    d.Field("scalar", &SliceAssignScalarParam::scalar).Doc("what is assigned");
    SliceParam::DeclareFields(d);
  }
};

// Parameters of slice_axis: the indices [begin, end) of one axis. Unlike in slice, indices out of
// range fail with kInvalidArgument in shape inference.
struct SliceAxisParam {
  // May be negative: it then counts from behind the last axis.
  int axis = 0;
  // Indices below 0 count from the end of the axis. Without `end` the rest of the axis is taken.
  int64_t begin = 0;
  std::optional<int64_t> end;

  static void Declare(ParamDeclaration<SliceAxisParam>& d) {
    d.Field("axis", &SliceAxisParam::axis).Required().Doc("the axis of which a part is taken");
    d.Field("begin", &SliceAxisParam::begin).Required().Doc("its first index");
    d.Field("end", &SliceAxisParam::end)
        .Required()
        .Doc("its first index that is no longer taken; None: all to its end");
  }

  // Returns the indices of the axis, whose extent is `len`. They are not checked: the slice may be
  // empty, have a negative extent, or begin below 0. Does not overflow for any parameters.
  SliceRange range(int64_t len) const {
    if (len == 0) return {0, 1, 0};
    // Clamps numbers that are far out of range so that they can be subtracted without overflow.
    const auto from_front = [len](int64_t index) {
      index = std::clamp(index, -len - 1, std::numeric_limits<int64_t>::max() - 1);
      return index < 0 ? index + len : index;
    };
    const int64_t b = from_front(begin);
    return {b, 1, from_front(end.value_or(len)) - b};
  }
};

// Parameters of Crop, which slices the axes of height and width of images (batch_size, channels,
// height, width). The size is that of crop_like, a second input whose elements are not read and
// that has no gradient, or h_w. MXNet: src/operator/crop.cc.
struct CropParam {
  // 1 if the only input is data, 2 if crop_like follows.
  int num_args = 0;
  // First row and column (y, x), unless center_crop.
  std::vector<int64_t> offset = {0, 0};
  // (height, width) of the output, each at least 1. Not looked at if there is a crop_like.
  std::vector<int64_t> h_w = {0, 0};
  bool center_crop = false;

  static void Declare(ParamDeclaration<CropParam>& d) {
    d.Field("num_args", &CropParam::num_args)
        .Required()
        .Min(1)
        .Max(2)
        .Doc("2 if the size is that of the input crop_like");
    d.Field("offset", &CropParam::offset).Doc("first row and column that are taken");
    d.Field("h_w", &CropParam::h_w).Doc("number of rows and columns, without crop_like");
    d.Field("center_crop", &CropParam::center_crop).Doc("whether the middle is taken");
  }

  // Returns the first index of axis 2 (`i` 0) or 3 (`i` 1) if `part` of `whole` indices are taken.
  // If the rest is odd, the larger half of it lies behind the middle part. The result is not
  // checked: offset may lead out of the axis, which the shape rule refuses.
  int64_t begin(int i, int64_t whole, int64_t part) const {
    return center_crop ? (whole - part) / 2 : offset[i];
  }
};

// The slice of slice_like: the leading indices of every axis.
struct LeadingPart {};

// Returns the indices of `axis` of `whole` that are in `part`, an inferred shape.
inline SliceRange RangeAlong(int axis, const SliceParam& param, const Shape& whole, const Shape&) {
  return param.range(axis, whole[axis]);
}
// Takes all axes whole but one. May return a range that leaves that axis: the shape rule refuses
// it.
inline SliceRange RangeAlong(int axis, const SliceAxisParam& param, const Shape& whole,
                             const Shape&) {
  const int cut = param.axis < 0 ? param.axis + whole.rank() : param.axis;
  return axis == cut ? param.range(whole[axis]) : SliceRange{.extent = whole[axis]};
}
// Takes the axes of the batch and the channels whole. `part` decides the extents, so that crop_like
// need not be known here.
inline SliceRange RangeAlong(int axis, const CropParam& param, const Shape& whole,
                             const Shape& part) {
  if (axis < 2) return {.extent = whole[axis]};
  return {.begin = param.begin(axis - 2, whole[axis], part[axis]), .extent = part[axis]};
}
// Begins at 0 on every axis; `part` has the extents.
inline SliceRange RangeAlong(int axis, const LeadingPart&, const Shape&, const Shape& part) {
  return {.extent = part[axis]};
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_SLICE_PARAM_H_
