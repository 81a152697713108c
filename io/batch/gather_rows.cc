#include "io/batch/gather_rows.h"

#include <cstring>

#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

bool AreConsecutive(absl::Span<const int64_t> ids) {
  if (ids.empty() || ids[0] < 0) return false;
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] != ids[i - 1] + 1) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<NDArray> GatherRows(const NDArray& source, absl::Span<const int64_t> ids) {
  const auto rows = static_cast<int64_t>(ids.size());
  if (AreConsecutive(ids)) return source.Slice(ids[0], ids[0] + rows);
  Shape shape = source.shape();
  shape[0] = rows;
  COOPER_ASSIGN_OR_RETURN(NDArray batch, NDArray::Empty(shape, source.dtype()));
  const auto row_bytes =
      static_cast<size_t>(shape.Product(1, shape.rank()) * SizeOf(source.dtype()));
  if (row_bytes == 0) return batch;
  auto* to = static_cast<char*>(batch.raw_data());
  const auto* from = static_cast<const char*>(source.raw_data());
  for (int64_t id : ids) {
    if (id < 0) {
      std::memset(to, 0, row_bytes);
    } else {
      std::memcpy(to, from + static_cast<size_t>(id) * row_bytes, row_bytes);
    }
    to += row_bytes;
  }
  return batch;
}

}  // namespace cooper
