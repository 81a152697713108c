#include "ndarray/base/partial_shape.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {

PartialShape PartialShape::OfRank(int rank) {
  PartialShape shape;
  shape.rank_known_ = true;
  shape.dims_.assign(rank, kUnknownDim);
  return shape;
}

PartialShape PartialShape::FromMXNet(absl::Span<const int64_t> dims) {
  if (dims.empty()) return PartialShape();
  PartialShape shape(dims);
  for (int64_t& extent : shape.dims_) {
    if (extent <= 0) extent = kUnknownDim;
  }
  return shape;
}

bool PartialShape::IsFull() const {
  return rank_known_ &&
         std::none_of(dims_.begin(), dims_.end(), [](int64_t d) { return d == kUnknownDim; });
}

bool PartialShape::HasNegativeExtent() const {
  return std::any_of(dims_.begin(), dims_.end(), [](int64_t d) { return d < kUnknownDim; });
}

Shape PartialShape::ToShape() const { return Shape(dims()); }

// A requested shape may have more elements than int64 can count; the result is then the largest
// int64, which no array reaches.
int64_t PartialShape::num_elements() const {
  if (!IsFull()) return kUnknownDim;
  int64_t product = 1;
  for (const int64_t extent : dims_) {
    if (__builtin_mul_overflow(product, extent, &product)) {
      product = std::numeric_limits<int64_t>::max();
    }
  }
  return product;
}

bool PartialShape::Merge(const PartialShape& other) {
  if (!other.rank_known_) return true;
  if (!rank_known_) {
    *this = other;
    return true;
  }
  if (rank() != other.rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dim_known(i) && other.dim_known(i) && dims_[i] != other.dims_[i]) return false;
  }
  for (int i = 0; i < rank(); ++i) {
    if (!dim_known(i)) dims_[i] = other.dims_[i];
  }
  return true;
}

std::string PartialShape::ToString() const {
  if (!rank_known_) return "?";
  return absl::StrCat("(",
                      absl::StrJoin(dims_, ", ",
                                    [](std::string* out, int64_t d) {
                                      if (d == kUnknownDim) {
                                        out->append("?");
                                      } else {
                                        absl::StrAppend(out, d);
                                      }
                                    }),
                      rank() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& os, const PartialShape& shape) {
  return os << shape.ToString();
}

}  // namespace cooper
