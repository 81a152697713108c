#ifndef COOPER_NDARRAY_BASE_SHAPE_H_
#define COOPER_NDARRAY_BASE_SHAPE_H_

// The extents of an array, outermost first. Every extent is known and at least 0; 0 is a legal
// extent (an empty array), and rank 0 is a scalar. PartialShape (partial_shape.h) is for shapes
// that are not known in full.

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

// A value type. Constructors and operator[] check neither extents nor axes: shapes from outside go
// through Create. Up to five axes need no allocation.
class Shape {
 public:
  // The scalar's shape, ().
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(absl::Span<const int64_t> dims);

  // Returns a shape after checks of its extents: kInvalidArgument if one is negative, or if the
  // size in bytes of an array of 8-byte elements would overflow int64, where extents of 0 do not
  // count.
  static absl::StatusOr<Shape> Create(absl::Span<const int64_t> dims);

  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t operator[](int axis) const { return dims_[axis]; }
  int64_t& operator[](int axis) { return dims_[axis]; }
  absl::Span<const int64_t> dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  // Change the rank by one: insert and erase move the axes from `axis` on.
  void push_back(int64_t extent);
  void insert(int axis, int64_t extent);
  void erase(int axis);

  // Returns the product of all extents; 1 for a scalar.
  int64_t num_elements() const { return Product(0, rank()); }
  // Returns the product of the extents of axes [first, last); 1 if there are none.
  int64_t Product(int first, int last) const;

  // Formats the shape as MXNet prints it: "(2, 3)", "(2,)", "()".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), s.dims_);
  }

 private:
  absl::InlinedVector<int64_t, 5> dims_;
};

std::ostream& operator<<(std::ostream& os, const Shape& shape);

// Maps a possibly negative axis to [0, rank). kInvalidArgument, naming axis and rank, if it is out
// of range; `name` is the attribute that holds the axis.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, const char* name = "axis");

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_SHAPE_H_
