#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper {
namespace {

// Copies stored element or row `from` to position `to`, `bytes` each.
void CopyPiece(const NDArray& values, int64_t from, const NDArray& dense, int64_t to,
               int64_t bytes) {
  std::copy_n(static_cast<const char*>(values.raw_data()) + from * bytes, bytes,
              static_cast<char*>(dense.raw_data()) + to * bytes);
}

absl::Status OutOfRange(const char* what, int64_t value, int64_t bound) {
  return absl::InvalidArgumentError(
      absl::StrCat("sparse array: ", what, " ", value, " is not in [0, ", bound, ")"));
}

absl::Status FillRows(const NDArray& values, absl::Span<const int64_t> rows, const NDArray& dense) {
  const Shape& shape = dense.shape();
  const int64_t row_bytes = shape.Product(1, shape.rank()) * SizeOf(dense.dtype());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= shape[0]) return OutOfRange("row", rows[i], shape[0]);
    CopyPiece(values, static_cast<int64_t>(i), dense, rows[i], row_bytes);
  }
  return absl::OkStatus();
}

absl::Status FillCsr(const NDArray& values, absl::Span<const int64_t> columns,
                     absl::Span<const int64_t> indptr, const NDArray& dense) {
  const int64_t rows = dense.shape()[0], width = dense.shape()[1];
  const int64_t nnz = static_cast<int64_t>(columns.size());
  for (int64_t row = 0; row < rows; ++row) {
    if (indptr[row] < 0 || indptr[row] > indptr[row + 1] || indptr[row + 1] > nnz) {
      return absl::InvalidArgumentError(absl::StrCat("indptr of row ", row, " is from ",
                                                     indptr[row], " to ", indptr[row + 1],
                                                     ", expected a part of [0, ", nnz, ")"));
    }
    for (int64_t i = indptr[row]; i < indptr[row + 1]; ++i) {
      if (columns[i] < 0 || columns[i] >= width) return OutOfRange("column", columns[i], width);
      CopyPiece(values, i, dense, row * width + columns[i], SizeOf(dense.dtype()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NDArray> ToDense(const ParamsEntry& entry) {
  if (entry.sparse == nullptr) return entry.array;
  const SparseLayout& layout = *entry.sparse;
  COOPER_ASSIGN_OR_RETURN(NDArray dense, NDArray::Zeros(layout.shape, entry.array.dtype()));
  COOPER_ASSIGN_OR_RETURN(absl::Span<int64_t> indices, layout.indices.Data<int64_t>());
  if (layout.type == StorageType::kRowSparse) {
    COOPER_RETURN_IF_ERROR(FillRows(entry.array, indices, dense));
  } else {
    COOPER_ASSIGN_OR_RETURN(absl::Span<int64_t> indptr, layout.indptr.Data<int64_t>());
    COOPER_RETURN_IF_ERROR(FillCsr(entry.array, indices, indptr, dense));
  }
  return dense;
}

}  // namespace cooper
