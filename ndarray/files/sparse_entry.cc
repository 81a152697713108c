#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_entry.h"

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

// Returns whether piece `at` of `dense`, `bytes` long, has an element that is not 0.
bool IsStored(const NDArray& dense, int64_t at, int64_t bytes) {
  const char* const piece = static_cast<const char*>(dense.raw_data()) + at * bytes;
  return std::any_of(piece, piece + bytes, [](char c) { return c != 0; });
}

// Returns the places in [0, count) that `stored` lists, and those whose piece begin + place of
// `dense` is not 0. The result is sorted if it has places that `stored` lacks.
std::vector<int64_t> StoredPlaces(const NDArray& dense, int64_t begin, int64_t count, int64_t bytes,
                                  absl::Span<const int64_t> stored) {
  std::vector<int64_t> places(stored.begin(), stored.end());
  const std::set<int64_t> known(stored.begin(), stored.end());
  for (int64_t place = 0; place < count; ++place) {
    if (!known.contains(place) && IsStored(dense, begin + place, bytes)) places.push_back(place);
  }
  if (places.size() > stored.size()) std::sort(places.begin(), places.end());
  return places;
}

// Returns the pieces of `dense` at `at`, `bytes` each, as an array of that shape.
absl::StatusOr<NDArray> Gather(const NDArray& dense, absl::Span<const int64_t> at, Shape shape,
                               int64_t bytes) {
  COOPER_ASSIGN_OR_RETURN(NDArray values, NDArray::Empty(std::move(shape), dense.dtype()));
  for (size_t i = 0; i < at.size(); ++i) {
    CopyPiece(dense, at[i], values, static_cast<int64_t>(i), bytes);
  }
  return values;
}

absl::StatusOr<NDArray> Indices(const std::vector<int64_t>& indices) {
  return NDArray::FromVector<int64_t>({static_cast<int64_t>(indices.size())}, indices);
}

absl::Status GatherRows(const NDArray& dense, absl::Span<const int64_t> stored,
                        ParamsEntry* entry) {
  Shape shape = dense.shape();
  const int64_t bytes = shape.Product(1, shape.rank()) * SizeOf(dense.dtype());
  const std::vector<int64_t> rows = StoredPlaces(dense, 0, shape[0], bytes, stored);
  shape[0] = static_cast<int64_t>(rows.size());
  COOPER_ASSIGN_OR_RETURN(entry->array, Gather(dense, rows, shape, bytes));
  COOPER_ASSIGN_OR_RETURN(entry->sparse->indices, Indices(rows));
  return absl::OkStatus();
}

absl::Status GatherCsr(const NDArray& dense, absl::Span<const int64_t> stored,
                       absl::Span<const int64_t> indptr, ParamsEntry* entry) {
  const int64_t rows = dense.shape()[0], width = dense.shape()[1], bytes = SizeOf(dense.dtype());
  std::vector<int64_t> at, columns, ends = {0};
  for (int64_t row = 0; row < rows; ++row) {
    const auto of_row = stored.subspan(static_cast<size_t>(indptr[row]),
                                       static_cast<size_t>(indptr[row + 1] - indptr[row]));
    for (const int64_t column : StoredPlaces(dense, row * width, width, bytes, of_row)) {
      columns.push_back(column);
      at.push_back(row * width + column);
    }
    ends.push_back(static_cast<int64_t>(columns.size()));
  }
  COOPER_ASSIGN_OR_RETURN(entry->array,
                          Gather(dense, at, {static_cast<int64_t>(at.size())}, bytes));
  COOPER_ASSIGN_OR_RETURN(entry->sparse->indices, Indices(columns));
  COOPER_ASSIGN_OR_RETURN(entry->sparse->indptr, Indices(ends));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParamsEntry> ToSparse(const NDArray& array, const SparseLayout& layout) {
  if (array.shape() != layout.shape) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array ", array.shape().ToString(), " is to be written as a ",
                     StorageTypeName(layout.type), " array ", layout.shape.ToString()));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray dense, OnCpu(array));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<int64_t> indices, layout.indices.Data<int64_t>());
  ParamsEntry entry;
  entry.sparse = std::make_unique<SparseLayout>();
  entry.sparse->type = layout.type;
  entry.sparse->shape = layout.shape;
  if (layout.type == StorageType::kRowSparse) {
    COOPER_RETURN_IF_ERROR(GatherRows(dense, indices, &entry));
  } else {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<int64_t> indptr, layout.indptr.Data<int64_t>());
    COOPER_RETURN_IF_ERROR(GatherCsr(dense, indices, indptr, &entry));
  }
  return entry;
}

absl::StatusOr<NDArray> ToDenseWithin(const ParamsEntry& entry, int64_t* bytes_left) {
  if (entry.sparse == nullptr) return entry.array;
  // Shape::Create has left room for the element size.
  const int64_t bytes = entry.sparse->shape.num_elements() * SizeOf(entry.array.dtype());
  if (bytes > *bytes_left) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a ", StorageTypeName(entry.sparse->type), " array ", entry.sparse->shape.ToString(),
        " takes ", bytes, " bytes when it is dense, but the file's sparse arrays may take at most ",
        *bytes_left, " more; ReadParamsFile reads it in sparse form"));
  }
  *bytes_left -= bytes;
  return ToDense(entry);
}

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
