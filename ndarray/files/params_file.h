#ifndef COOPER_NDARRAY_FILES_PARAMS_FILE_H_
#define COOPER_NDARRAY_FILES_PARAMS_FILE_H_

// MXNet's `.params` files: a list of arrays, with a name for each or without any. Every version
// that MXNet wrote is read: arrays without a magic number (before 0.9), V1, V2 (1.0 to 1.9) and V3
// (np-shape), dense and sparse, from any device. What is written is V2, or V3 throughout if an
// array has no dimensions, which V2 has no form for: MXNet reads no list of both.
//
// Files are untrusted: each count and length is checked against the bytes that are there before
// anything is allocated. A file of any content costs memory in proportion to its size: twice that
// of its elements, and some 300 bytes an array, which takes 20 of the file or more.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// MXNet's codes of storage types.
enum class StorageType : int32_t { kDefault = 0, kRowSparse = 1, kCsr = 2 };

// "default", "row_sparse", "csr".
const char* StorageTypeName(StorageType type);

// Which elements of a sparse array are stored; the others are 0.
struct SparseLayout {
  StorageType type = StorageType::kRowSparse;
  Shape shape;      // of the whole array
  NDArray indices;  // (nnz,) int64: rows (row_sparse) or columns (csr) of what is stored
  NDArray indptr;   // csr: (rows + 1,) int64, where each row begins; null for row_sparse
};

struct ParamsEntry {
  std::string name;  // empty in a list without names
  // The elements, on the CPU. Of a sparse array those that are stored: (nnz, ...) rows or (nnz,).
  // Null for an array that MXNet wrote without a shape.
  NDArray array;
  std::unique_ptr<SparseLayout> sparse;  // null for a dense array
};

struct ParamsList {
  bool named = false;
  std::vector<ParamsEntry> entries;  // in the order of the file
};

// The array with its zeros: `entry.array` itself if it is dense. kInvalidArgument if an index is
// out of range. A small file may describe a huge array: see `entry.sparse->shape` first.
absl::StatusOr<NDArray> ToDense(const ParamsEntry& entry);

// What `bytes`, the contents of a file, describe. kInvalidArgument, naming array and reason, if
// they are not such a file; what else they are is said where it can be told (file_kind.h).
absl::StatusOr<ParamsList> ParseParams(absl::string_view bytes);

// ParseParams of a file, whose path is in every message.
absl::StatusOr<ParamsList> ReadParamsFile(const std::string& path);

// Whether the file at `path` begins as such a file does: ParseParams's error if not. Reads its
// first bytes alone.
absl::Status CheckParamsFile(const std::string& path);

using NamedArrays = std::vector<std::pair<std::string, NDArray>>;

// The dense arrays of a file with names, as saved from a dictionary. kInvalidArgument if the file
// has no names, and, naming it, for a null array (MXNet's load fails too), kUnimplemented, naming
// it, for a sparse array.
absl::StatusOr<NamedArrays> LoadNamedArrays(const std::string& path);

// The same as views of the file, which is mapped rather than read: a page comes into memory when it
// is first touched, and all processes that map the file share it. What is written to an array stays
// in this process. bools are copies, and so are arrays whose elements the file does not align, as
// it may happen behind arrays of smaller elements: of float32 alone all are views. As long as an
// array is there, nobody may shorten the file (SIGBUS); to replace it, as SaveNamedArrays does, is
// fine.
absl::StatusOr<NamedArrays> MapNamedArrays(const std::string& path);

// Replaces the file at `path` (see atomic_file.h). Arrays may be on any device and may be views. A
// null array is kInvalidArgument.
absl::Status SaveNamedArrays(const std::string& path, const NamedArrays& arrays);
absl::Status SaveArrays(const std::string& path, const std::vector<NDArray>& arrays);

// The same as bytes.
absl::StatusOr<std::string> SerializeNamedArrays(const NamedArrays& arrays);

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_PARAMS_FILE_H_
