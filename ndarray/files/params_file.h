#ifndef COOPER_NDARRAY_FILES_PARAMS_FILE_H_
#define COOPER_NDARRAY_FILES_PARAMS_FILE_H_

// Reads and writes MXNet's `.params` files: a list of arrays, all with names or all without. Reads
// every version that MXNet wrote: arrays without a magic number (before 0.9), V1, V2 (1.0 to 1.9)
// and V3 (np-shape), dense and sparse, from any device. Writes V2, or V3 throughout if an array has
// no dimensions, which V2 cannot represent: MXNet reads no list that mixes both.
//
// Files are untrusted: each count and length is checked against the remaining bytes before anything
// is allocated. Parsing costs memory in proportion to the file: twice its elements, and some 300
// bytes for each array, which takes at least 20 bytes of the file.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// MXNet's codes of storage types.
enum class StorageType : int32_t { kDefault = 0, kRowSparse = 1, kCsr = 2 };

// Returns MXNet's name of the type: "default", "row_sparse" or "csr".
const char* StorageTypeName(StorageType type);

// Describes which elements of a sparse array are stored; all others are 0.
struct SparseLayout {
  StorageType type = StorageType::kRowSparse;
  Shape shape;      // of the whole array
  NDArray indices;  // (nnz,) int64: rows (row_sparse) or columns (csr) of the stored elements
  NDArray indptr;   // csr: (rows + 1,) int64, where each row begins; null for row_sparse
};

// One array of a file.
struct ParamsEntry {
  std::string name;  // empty in a list without names
  // The elements, on the CPU. A sparse array has its stored rows (nnz, ...) or elements (nnz,)
  // here. Null for an array that MXNet wrote without a shape.
  NDArray array;
  std::unique_ptr<SparseLayout> sparse;  // null for a dense array
};

// The contents of a file.
struct ParamsList {
  bool named = false;
  std::vector<ParamsEntry> entries;  // in the order of the file
};

// Returns the array with its zeros: `entry.array` itself if it is dense. kInvalidArgument if an
// index is out of range. A small file may describe a huge array: check `entry.sparse->shape` first.
absl::StatusOr<NDArray> ToDense(const ParamsEntry& entry);

// Parses `bytes`, the contents of a file. kInvalidArgument, naming array and reason, if they are
// not a params file; the message also names the actual format where it is recognised (file_kind.h).
absl::StatusOr<ParamsList> ParseParams(absl::string_view bytes);

// Parses a file; every message has its path. Errors are those of ReadFile and ParseParams.
absl::StatusOr<ParamsList> ReadParamsFile(const std::string& path);

// Returns OK if the file at `path` begins as a params file does, else ParseParams's error. Reads
// only the first bytes.
absl::Status CheckParamsFile(const std::string& path);

// Loads the dense arrays of a file with names, as saved from a dictionary. kInvalidArgument if the
// file has no names and, naming the array, if one is null (MXNet's load fails too); kUnimplemented,
// naming the array, if one is sparse.
absl::StatusOr<NamedArrays> LoadNamedArrays(const std::string& path);

// Loads arrays as LoadNamedArrays does, but as views of the mapped file: a page comes into memory
// when it is first touched, and all processes that map the file share it. Writes to an array stay
// in this process. Two kinds of arrays are copied: arrays of bools, and arrays whose elements are
// not aligned in the file, which can happen after arrays of smaller elements. In a file of float32
// alone all arrays are views. While an array lives the file must not be shortened (SIGBUS);
// replacing it, as SaveNamedArrays does, is safe.
absl::StatusOr<NamedArrays> MapNamedArrays(const std::string& path);

// Replace the file at `path` (atomic_file.h). Arrays may be views and on any device. Errors:
// kInvalidArgument for a null array; those of WriteFileAtomically.
absl::Status SaveNamedArrays(const std::string& path, const NamedArrays& arrays);
absl::Status SaveArrays(const std::string& path, const std::vector<NDArray>& arrays);

// Returns the bytes that SaveNamedArrays writes.
absl::StatusOr<std::string> SerializeNamedArrays(const NamedArrays& arrays);

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_PARAMS_FILE_H_
