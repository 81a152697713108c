#ifndef COOPER_NDARRAY_ROW_SET_H_
#define COOPER_NDARRAY_ROW_SET_H_

// The rows of a matrix that may hold something else than zeros: what keeps a gradient that has few
// of them, such as an embedding's, from being cleared and applied as a whole.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace cooper {

// A set of rows below num_rows(). It may hold more rows than it has to, never fewer; of a new set
// nothing is known, and it holds them all. Not thread-safe.
class RowSet {
 public:
  explicit RowSet(int64_t num_rows) : num_rows_(num_rows) {}

  int64_t num_rows() const { return num_rows_; }
  // Whether every row is in it.
  bool all() const { return all_; }
  // Each row once, in no particular order; none after InsertAll.
  absl::Span<const int64_t> rows() const {
    if (all_) return {};
    return rows_;
  }

  // Takes the memory that Insert needs, so that it allocates nothing.
  void Reserve();
  void Insert(int64_t row) {
    if (all_ || contains_[static_cast<size_t>(row)] != 0) return;
    contains_[static_cast<size_t>(row)] = 1;
    rows_.push_back(row);
  }
  void InsertAll() { all_ = true; }
  // Empties the set. Does nothing after GiveUp.
  void Clear();
  // Makes it hold all rows for good: somebody may write to the matrix without saying so.
  void GiveUp();

 private:
  int64_t num_rows_;
  bool all_ = true;
  bool given_up_ = false;
  std::vector<int64_t> rows_;
  std::vector<uint8_t> contains_;  // by row: whether rows_ lists it
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_ROW_SET_H_
