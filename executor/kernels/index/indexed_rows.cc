#include "executor/kernels/index/indexed_rows.h"

#include <cstring>

#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/index_reader.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Maps row i of (outer, indices) to a row of (outer, n).
class RowNumbers {
 public:
  RowNumbers(const IndexedExtents& extents, const ArrayView& indices, IndexMode mode)
      : n_(extents.n), count_(indices.size()), mode_(mode), indices_(indices) {}

  int64_t operator[](int64_t i) const {
    // Needs no division if the first axis is indexed.
    if (i < count_) return IndexInRange(indices_[i], n_, mode_);
    return i / count_ * n_ + IndexInRange(indices_[i % count_], n_, mode_);
  }

 private:
  const int64_t n_, count_;
  const IndexMode mode_;
  const IndexReader indices_;
};

void FillZeros(const ArrayView& array) {
  ParallelForPlain(array.size_bytes(), 262144, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(array.data) + begin, 0, end - begin);
  });
}

}  // namespace

void CopyIndexedRows(const ArrayView& data, int axis, const ArrayView& indices, IndexMode mode,
                     WriteReq req, const ArrayView& out) {
  if (out.size() == 0) return;
  const IndexedExtents e(data.shape, axis);
  const RowNumbers numbers(e, indices, mode);
  DispatchDType(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ParallelForPlain(e.outer * indices.size(), RowGrain(e.inner), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        MoveRow(e.inner, data.as<T>() + numbers[i] * e.inner, req, out.as<T>() + i * e.inner);
      }
    });
  });
}

// Threads share the columns.
void AddIndexedRows(const ArrayView& ograd, const ArrayView& indices, IndexMode mode, WriteReq req,
                    int axis, const ArrayView& grad) {
  if (req == WriteReq::kWrite) FillZeros(grad);
  if (ograd.size() == 0) return;
  const IndexedExtents e(grad.shape, axis);
  const RowNumbers numbers(e, indices, mode);
  const int64_t rows = e.outer * indices.size();
  DispatchDType(grad.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t grain = std::max<int64_t>(16, 16384 / rows);
    ParallelFor(e.inner, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < rows; ++i) {
        MoveRow(end - begin, ograd.as<T>() + i * e.inner + begin, WriteReq::kAdd,
                grad.as<T>() + numbers[i] * e.inner + begin);
      }
    });
  });
}

}  // namespace cooper
