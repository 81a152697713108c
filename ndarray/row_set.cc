#include "ndarray/row_set.h"

#include <cstddef>

namespace cooper {

void RowSet::Reserve() {
  rows_.reserve(static_cast<size_t>(num_rows_));
  contains_.resize(static_cast<size_t>(num_rows_));
}

void RowSet::Clear() {
  if (given_up_) return;
  Reserve();
  for (int64_t row : rows_) contains_[static_cast<size_t>(row)] = 0;
  rows_.clear();
  all_ = false;
}

void RowSet::GiveUp() {
  given_up_ = true;
  all_ = true;
}

}  // namespace cooper
