#ifndef COOPER_MODULE_INITIALIZER_BILINEAR_KERNEL_H_
#define COOPER_MODULE_INITIALIZER_BILINEAR_KERNEL_H_

// Fills the weights with which a transposed convolution interpolates bilinearly.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Overwrites `values`: float32 on the CPU, (num_filter, channels, height, width). kInvalidArgument,
// with the array's name, for another number of dimensions. All filters and channels get the same
// weights, those of a kernel of height x width that scales by half its width, rounded up.
absl::Status FillBilinear(absl::string_view name, const NDArray& values);

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_BILINEAR_KERNEL_H_
