#ifndef COOPER_NDARRAY_FILES_NPY_FILE_H_
#define COOPER_NDARRAY_FILES_NPY_FILE_H_

// Reads and writes NumPy's .npy files: one array each, as numpy.save and numpy.load. All formats
// (1.0 to 3.0), C and Fortran order and both byte orders are read; format 1.0, C order and
// little-endian elements are written.
//
// NumPy has no bfloat16: such an array is written with descr '<V2', as JAX and ml_dtypes do, and
// read from it. In NumPy its elements are `array.view(ml_dtypes.bfloat16)`.
//
// Files are untrusted: nothing in them is evaluated or unpickled, and an array is allocated only if
// the file has its elements. Messages have the path and the offset in the file.

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/files/npy_header.h"

namespace cooper {

// Loads the array of a file to the CPU. Errors: kInvalidArgument if the file is malformed, shorter
// or longer than its array; kUnimplemented for elements that no NDArray can have, with their name
// and what to do (ParseNpyText, npy_header.h); those of MapFile (atomic_file.h). The file must not
// be shortened meanwhile.
absl::StatusOr<NDArray> LoadNpy(const std::string& path);

// Replaces the file at `path` (atomic_file.h). The array may be a view and on any device.
// kInvalidArgument for a null array or one of more than 64 axes; else the errors of AtomicFile.
absl::Status SaveNpy(const std::string& path, const NDArray& array);

// Parses the contents of a file. Errors are LoadNpy's without a path.
absl::StatusOr<NDArray> ParseNpy(absl::string_view bytes);

// Returns the bytes that SaveNpy writes.
absl::StatusOr<std::string> SerializeNpy(const NDArray& array);

// Copies the next `count` bytes of a file to `out`, or fails.
using ReadBytes = absl::FunctionRef<absl::Status(void* out, int64_t count)>;

// Read an array, or only its header, from a source of `bytes` bytes. This size bounds what is
// allocated, so the caller checks it first if it comes from an untrusted file. Errors are
// ParseNpy's and those of `read`.
absl::StatusOr<NpyHeader> ReadNpyHeader(int64_t bytes, ReadBytes read);
absl::StatusOr<NDArray> ReadNpy(int64_t bytes, ReadBytes read);

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_NPY_FILE_H_
