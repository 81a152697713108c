#ifndef COOPER_NDARRAY_FILES_NPY_HEADER_H_
#define COOPER_NDARRAY_FILES_NPY_HEADER_H_

// Reads and writes the headers of NumPy's .npy files (numpy.lib.format), formats 1.0 to 3.0. The
// layout of a file:
//
//   "\x93NUMPY", uint8 major, uint8 minor version
//   the length of the text: uint16 in 1.0, uint32 in 2.0 and 3.0, little-endian
//   the text, a dictionary as Python writes it, with spaces and a newline behind it:
//     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//   the elements
//
// Nothing in the text is ever evaluated: only such a dictionary of one string, one truth value and
// one tuple of numbers is accepted.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The bytes up to the text's length, inclusive: 10 in format 1.0, 12 in 2.0 and 3.0.
inline constexpr size_t kMaxNpyPreamble = 12;

// A header, decoded. data_bytes is the number of bytes that must follow it.
struct NpyHeader {
  DType dtype = DType::kFloat32;
  bool big_endian = false;     // whether the bytes of an element are in this order
  bool fortran_order = false;  // whether the first axis varies fastest
  Shape shape;

  int64_t data_bytes() const { return shape.num_elements() * SizeOf(dtype); }
};

// Returns the size of the preamble, 10 or 12, of a file that begins with `bytes`, of which 8 are
// enough. kInvalidArgument if it is no .npy file or has an unknown version.
absl::StatusOr<size_t> NpyPreambleSize(absl::string_view bytes);

// Returns the length of the text from a whole preamble. kInvalidArgument if it is larger than 64
// KiB, which no array of numbers needs.
absl::StatusOr<size_t> NpyTextSize(absl::string_view preamble);

// Parses the text, which begins at `offset` of the file. kInvalidArgument, with the offset, if it
// is malformed; kUnimplemented, naming the dtype and what to do instead, for elements that no
// NDArray can have: other integers, complex numbers, text, dates, records and Python objects.
// Elements of descr '<V2' are bfloat16, as JAX and ml_dtypes write them.
absl::StatusOr<NpyHeader> ParseNpyText(absl::string_view text, size_t offset);

// Returns preamble and text in format 1.0, padded to a multiple of 64 bytes as NumPy does, for
// little-endian elements in C order. kInvalidArgument if there are more than 64 axes (NumPy reads
// 64, and 32 before version 2).
absl::StatusOr<std::string> NpyHeaderBytes(const Shape& shape, DType dtype);

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_NPY_HEADER_H_
