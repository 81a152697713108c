#ifndef COOPER_NDARRAY_BASE_PARTIAL_SHAPE_H_
#define COOPER_NDARRAY_BASE_PARTIAL_SHAPE_H_

// A shape that may be known in part: nothing is known, only the rank, or the rank and some extents.
// An unknown extent is kUnknownDim, a value of its own, so that 0 stays a legal extent.
//
// Shape inference (symbol/inference) works on partial shapes; arrays have a Shape (shape.h).

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The extent that means unknown. Other negative extents are invalid (HasNegativeExtent).
inline constexpr int64_t kUnknownDim = -1;

// A value type. Merge adds information and finds contradictions. Up to five axes need no
// allocation. Axes passed to its functions must be in [0, rank()); this is not checked.
class PartialShape {
 public:
  // Creates a shape of which nothing is known.
  PartialShape() = default;
  // Create a shape of known rank; an extent of kUnknownDim is unknown.
  PartialShape(std::initializer_list<int64_t> dims) : rank_known_(true), dims_(dims) {}
  explicit PartialShape(absl::Span<const int64_t> dims)
      : rank_known_(true), dims_(dims.begin(), dims.end()) {}
  PartialShape(const Shape& shape) : PartialShape(shape.dims()) {}  // NOLINT: a widening

  // Returns a shape of `rank` unknown extents.
  static PartialShape OfRank(int rank);
  // Reads MXNet's notation, in which 0 and -1 both mean an unknown extent and () an unknown rank.
  static PartialShape FromMXNet(absl::Span<const int64_t> dims);

  bool rank_known() const { return rank_known_; }
  // Returns the number of axes; 0 if the rank is unknown.
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t operator[](int axis) const { return dims_[axis]; }
  int64_t& operator[](int axis) { return dims_[axis]; }
  absl::Span<const int64_t> dims() const { return dims_; }
  bool dim_known(int axis) const { return dims_[axis] != kUnknownDim; }

  // Returns whether rank and all extents are known.
  bool IsFull() const;
  // Returns whether an extent is below 0 and is not kUnknownDim: such a shape is invalid.
  bool HasNegativeExtent() const;
  // Returns the shape. Requires IsFull().
  Shape ToShape() const;
  // Returns the product of all extents, or kUnknownDim if one is unknown. On overflow returns the
  // greatest int64, which no array reaches.
  int64_t num_elements() const;

  // Adds the extents that `other` knows. An unknown rank becomes the rank of `other`. Returns
  // false, with *this unchanged, if the two contradict each other.
  bool Merge(const PartialShape& other);

  // Formats the shape for messages: "?" for an unknown rank, "(?, 650)", "(2,)".
  std::string ToString() const;

  friend bool operator==(const PartialShape& a, const PartialShape& b) {
    return a.rank_known_ == b.rank_known_ && a.dims_ == b.dims_;
  }

 private:
  bool rank_known_ = false;
  absl::InlinedVector<int64_t, 5> dims_;
};

std::ostream& operator<<(std::ostream& os, const PartialShape& shape);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_PARTIAL_SHAPE_H_
