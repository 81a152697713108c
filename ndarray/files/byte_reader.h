#ifndef COOPER_NDARRAY_FILES_BYTE_READER_H_
#define COOPER_NDARRAY_FILES_BYTE_READER_H_

// Reads the fields of MXNet's binary files from memory. Files are untrusted: each count and length
// is checked against the remaining bytes before anything is allocated.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_format.h"

namespace cooper {

// Reads values from the front of a buffer; every read is checked against the remaining bytes.
// Numbers are in the host's byte order, which is little-endian like the files. In each function
// `what` names the field in the error message, and a failed read does not move the position. The
// buffer must outlive the reader and the views that Take and rest return. Not thread-safe.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : bytes_(bytes) {}

  // Reads CPU memory that arrays may view: Elements then shares `storage` instead of copying, where
  // the alignment allows, so the arrays keep it alive.
  explicit ByteReader(std::shared_ptr<Storage> storage)
      : bytes_(static_cast<const char*>(storage->data()), static_cast<size_t>(storage->bytes())),
        storage_(std::move(storage)) {}

  // Return the number of bytes that were not read yet, and these bytes, without reading them.
  uint64_t remaining() const { return bytes_.size(); }
  absl::string_view rest() const { return bytes_; }

  // Reads `count` bytes as a view of the buffer. kInvalidArgument, with both numbers, if fewer are
  // left.
  absl::StatusOr<absl::string_view> Take(uint64_t count, absl::string_view what) {
    if (count > remaining()) {
      return absl::InvalidArgumentError(absl::StrCat(what, " takes ", count, " bytes, but only ",
                                                     remaining(), " are left in the file"));
    }
    const absl::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  // Reads a T, which is trivially copyable, from any alignment. Errors: those of Take.
  template <typename T>
  absl::StatusOr<T> Number(absl::string_view what) {
    COOPER_ASSIGN_OR_RETURN(absl::string_view raw, Take(sizeof(T), what));
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  // Reads `rank` extents of type T; an error if fewer are left or no array may have that rank. Also
  // kInvalidArgument, from Shape::Create, for negative extents and for products beyond int64.
  template <typename T>
  absl::StatusOr<Shape> Extents(uint32_t rank, absl::string_view what) {
    if (rank > kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " is of ", rank, " dimensions, expected at most ", kMaxRank));
    }
    COOPER_ASSIGN_OR_RETURN(absl::string_view raw, Take(uint64_t{rank} * sizeof(T), what));
    std::vector<int64_t> dims(rank);
    for (uint32_t i = 0; i < rank; ++i) {
      T extent;
      std::memcpy(&extent, raw.data() + i * sizeof(T), sizeof(T));
      dims[i] = static_cast<int64_t>(extent);
    }
    return Shape::Create(dims);
  }

  // Reads a shape as MXNet 1.x writes it: a uint32 rank, then int64 extents. Errors: those of
  // Extents.
  absl::StatusOr<Shape> ShapeField(absl::string_view what) {
    COOPER_ASSIGN_OR_RETURN(uint32_t rank, Number<uint32_t>(what));
    return Extents<int64_t>(rank, what);
  }

  // Reads an int32 with MXNet's code of a dtype. kInvalidArgument if the code is unknown.
  absl::StatusOr<DType> DTypeField(absl::string_view what) {
    COOPER_ASSIGN_OR_RETURN(int32_t code, Number<int32_t>(what));
    return DTypeFromCode(code);
  }

  // Reads the elements of an array, row-major: a view of the storage, or a copy in new CPU memory.
  // A copy is allocated only after the bytes are known to be there. Bools are always copied,
  // because bytes other than 0 and 1 become 1.
  absl::StatusOr<NDArray> Elements(const Shape& shape, DType dtype, absl::string_view what) {
    // Shape::Create has left room for the element size.
    const int64_t bytes = shape.num_elements() * SizeOf(dtype);
    COOPER_ASSIGN_OR_RETURN(absl::string_view raw, Take(static_cast<uint64_t>(bytes), what));
    if (CanView(raw, dtype)) {
      return NDArray::View(storage_, raw.data() - static_cast<const char*>(storage_->data()), shape,
                           dtype);
    }
    COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, dtype));
    char* out = static_cast<char*>(array.raw_data());
    std::copy(raw.begin(), raw.end(), out);
    if (dtype == DType::kBool) {  // a bool that is neither 0 nor 1 must not exist
      std::transform(out, out + bytes, out, [](char c) { return static_cast<char>(c != 0); });
    }
    return array;
  }

 private:
  // MXNet's files do not align arrays: an array follows headers, multiples of 4 bytes, and the
  // elements of earlier arrays, which may take any number of bytes.
  bool CanView(absl::string_view raw, DType dtype) const {
    return storage_ != nullptr && dtype != DType::kBool &&
           reinterpret_cast<uintptr_t>(raw.data()) % static_cast<uintptr_t>(SizeOf(dtype)) == 0;
  }

  absl::string_view bytes_;
  std::shared_ptr<Storage> storage_;  // null: everything is copied
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_BYTE_READER_H_
