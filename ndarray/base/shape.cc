#include "ndarray/base/shape.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {

Shape::Shape(absl::Span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}

void Shape::push_back(int64_t extent) { dims_.push_back(extent); }

void Shape::insert(int axis, int64_t extent) { dims_.insert(dims_.begin() + axis, extent); }

void Shape::erase(int axis) { dims_.erase(dims_.begin() + axis); }

absl::StatusOr<Shape> Shape::Create(absl::Span<const int64_t> dims) {
  // An extent of 0 must not hide an overflow of the others, whose products are strides.
  int64_t product = 1;
  for (int64_t extent : dims) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("negative extent ", extent, " in shape (", absl::StrJoin(dims, ", "), ")"));
    }
    if (extent == 0) continue;
    // The size in bytes must fit too, with the widest element of 8 bytes.
    if (product > std::numeric_limits<int64_t>::max() / 8 / extent) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape (", absl::StrJoin(dims, ", "), ") has too many elements"));
    }
    product *= extent;
  }
  return Shape(dims);
}

int64_t Shape::Product(int first, int last) const {
  int64_t product = 1;
  for (int i = first; i < last; ++i) product *= dims_[i];
  return product;
}

std::string Shape::ToString() const {
  return absl::StrCat("(", absl::StrJoin(dims_, ", "), rank() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& os, const Shape& shape) { return os << shape.ToString(); }

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, const char* name) {
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " ", axis, " is out of range for ", rank, " dimensions"));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace cooper
