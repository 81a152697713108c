#ifndef COOPER_NDARRAY_FILES_PARAMS_FILE_H_
#define COOPER_NDARRAY_FILES_PARAMS_FILE_H_

// Reads and writes MXNet's `.params` files: a list of arrays, all with names or all without. Reads
// every version that MXNet wrote: arrays without a magic number (before 0.9), V1, V2 (1.0 to 1.9)
// and V3 (NumPy mode, npx.set_np()), dense and sparse, from any device. Writes V2, which MXNet
// reads outside of NumPy mode only, or V3, which it reads in NumPy mode only: where ParamsFormat
// says so, and where an array has no dimensions or an extent of 0. MXNet reads no list that mixes
// both, and no sparse array in NumPy mode: with sparse arrays V3 is written for arrays without
// dimensions only.
//
// Files are untrusted: each count and length is checked against the remaining bytes before anything
// is allocated. Parsing costs memory in proportion to the file: twice its elements, and some 300
// bytes for each array, which takes at least 20 bytes of the file.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/files/params_entry.h"

namespace cooper {

// The contents of a file.
struct ParamsList {
  bool named = false;
  std::vector<ParamsEntry> entries;  // in the order of the file
};

// Parses `bytes`, the contents of a file. kInvalidArgument, naming array and reason, if they are
// not a params file; the message also names the actual format where it is recognised (file_kind.h).
absl::StatusOr<ParamsList> ParseParams(absl::string_view bytes);

// Parses a file; every message has its path. Errors are those of ReadFile and ParseParams.
absl::StatusOr<ParamsList> ReadParamsFile(const std::string& path);

// Returns OK if the file at `path` begins as a params file does, else ParseParams's error. Reads
// only the first bytes.
absl::Status CheckParamsFile(const std::string& path);

// Loads the arrays of a file with names, as saved from a dictionary. Sparse arrays become dense.
// Adds to `format`, unless it is null, what SaveNamedArrays needs to write the file as it was; one
// array of V3 sets np_shape. kInvalidArgument if the file has no names and, naming the array, if
// one is null (MXNet's load fails too) or has an index out of range; kResourceExhausted if sparse
// arrays take more than kMaxDenseBytes.
absl::StatusOr<NamedArrays> LoadNamedArrays(const std::string& path,
                                            ParamsFormat* format = nullptr);

// Loads arrays as LoadNamedArrays does, but as views of the mapped file: a page comes into memory
// when it is first touched, and all processes that map the file share it. Writes to an array stay
// in this process. Three kinds of arrays are copied: arrays of bools, sparse arrays, and arrays
// whose elements are not aligned in the file, which can happen after arrays of smaller elements. In
// a file of float32 alone all arrays are views. While an array lives the file must not be shortened
// (SIGBUS); replacing it, as SaveNamedArrays does, is safe.
absl::StatusOr<NamedArrays> MapNamedArrays(const std::string& path);

// Replace the file at `path` (atomic_file.h). Arrays may be views and on any device. An array whose
// name is in `format.sparse` is written in that layout (ToSparse), if it still has its shape.
// Errors: kInvalidArgument for a null array; those of WriteFileAtomically.
absl::Status SaveNamedArrays(const std::string& path, const NamedArrays& arrays,
                             const ParamsFormat& format = {});
absl::Status SaveArrays(const std::string& path, const std::vector<NDArray>& arrays);

// Returns the bytes that SaveNamedArrays writes.
absl::StatusOr<std::string> SerializeNamedArrays(const NamedArrays& arrays,
                                                 const ParamsFormat& format = {});

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_PARAMS_FILE_H_
