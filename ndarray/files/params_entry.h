#ifndef COOPER_NDARRAY_FILES_PARAMS_ENTRY_H_
#define COOPER_NDARRAY_FILES_PARAMS_ENTRY_H_

// Holds one array of MXNet's files, and converts sparse arrays to dense ones and back. MXNet writes
// an array into a list (params_file.h) or alone, as the state of a pickled array.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"

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
  bool np_shape = false;                 // whether MXNet wrote it in NumPy mode (V3)
};

// Returns the array with its zeros: `entry.array` itself if it is dense. kInvalidArgument if an
// index is out of range. A small file may describe a huge array: check `entry.sparse->shape` first.
absl::StatusOr<NDArray> ToDense(const ParamsEntry& entry);

// Returns what ToDense returns, and reduces `*bytes_left` by the bytes that a sparse array takes
// when it is dense. kResourceExhausted, with both numbers, if these are more than `*bytes_left`.
// Dense arrays are neither limited nor counted.
absl::StatusOr<NDArray> ToDenseWithin(const ParamsEntry& entry, int64_t* bytes_left);

// How many bytes the sparse arrays of one file may take when they are dense, where nothing else
// says how large they are.
inline constexpr int64_t kMaxDenseBytes = int64_t{1} << 30;

// How a file stores its arrays, so that they can be written as they were read.
struct ParamsFormat {
  std::map<std::string, std::shared_ptr<const SparseLayout>> sparse = {};  // sparse arrays by name
  // Whether MXNet reads the file in NumPy mode (npx.set_np()), and only there.
  bool np_shape = false;
};

// Returns `dense` as a sparse entry of the layout's type, without a name. It stores the rows or
// elements that `layout` stores, even if they are 0, and all others that are not 0. An unchanged
// array gives the layout's indices. kInvalidArgument if `dense` has another shape.
absl::StatusOr<ParamsEntry> ToSparse(const NDArray& dense, const SparseLayout& layout);

// Parses `bytes`, one array of any version and nothing else. kInvalidArgument, naming the field, if
// they are not.
absl::StatusOr<ParamsEntry> ParseArray(absl::string_view bytes);

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_PARAMS_ENTRY_H_
