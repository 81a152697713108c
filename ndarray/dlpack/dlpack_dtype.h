#ifndef COOPER_NDARRAY_DLPACK_DLPACK_DTYPE_H_
#define COOPER_NDARRAY_DLPACK_DLPACK_DTYPE_H_

// Translates dtypes and devices between cooper and DLPack.

#include "absl/status/statusor.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/dlpack/dlpack_layout.h"

namespace cooper {

// Returns DLPack's description of the dtype; each has one.
dlpack::DataType ToDLPackDType(DType dtype);

// Returns the dtype with such elements. kInvalidArgument if they are vectors (lanes other than 1);
// kUnimplemented, with DLPack's name of them, if cooper has no such dtype.
absl::StatusOr<DType> FromDLPackDType(dlpack::DataType type);

// Returns the context of a device. kUnimplemented, with DLPack's name or code of it, for anything
// but kDLCPU and kDLCUDA; else the errors of FindDevice.
absl::StatusOr<Context> FromDLPackDevice(dlpack::Device device);

}  // namespace cooper

#endif  // COOPER_NDARRAY_DLPACK_DLPACK_DTYPE_H_
