// Compares the layouts with those of dlpack.h, where it is installed (Debian: libdlpack-dev).

#include "ndarray/dlpack/dlpack_layout.h"

#include "gtest/gtest.h"

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>

#include <cstddef>

namespace cooper {
namespace {

// Compares the place and the size of a field of two structs.
#define COOPER_SAME_FIELD(own, field, other, other_field)              \
  static_assert(offsetof(own, field) == offsetof(other, other_field)); \
  static_assert(sizeof(own::field) == sizeof(other::other_field))

#define COOPER_SAME_LAYOUT(own, other) \
  static_assert(sizeof(own) == sizeof(other) && alignof(own) == alignof(other))

COOPER_SAME_LAYOUT(dlpack::Device, DLDevice);
COOPER_SAME_FIELD(dlpack::Device, type, DLDevice, device_type);
COOPER_SAME_FIELD(dlpack::Device, id, DLDevice, device_id);

COOPER_SAME_LAYOUT(dlpack::DataType, DLDataType);
COOPER_SAME_FIELD(dlpack::DataType, code, DLDataType, code);
COOPER_SAME_FIELD(dlpack::DataType, bits, DLDataType, bits);
COOPER_SAME_FIELD(dlpack::DataType, lanes, DLDataType, lanes);

COOPER_SAME_LAYOUT(dlpack::Tensor, DLTensor);
COOPER_SAME_FIELD(dlpack::Tensor, data, DLTensor, data);
COOPER_SAME_FIELD(dlpack::Tensor, device, DLTensor, device);
COOPER_SAME_FIELD(dlpack::Tensor, ndim, DLTensor, ndim);
COOPER_SAME_FIELD(dlpack::Tensor, dtype, DLTensor, dtype);
COOPER_SAME_FIELD(dlpack::Tensor, shape, DLTensor, shape);
COOPER_SAME_FIELD(dlpack::Tensor, strides, DLTensor, strides);
COOPER_SAME_FIELD(dlpack::Tensor, byte_offset, DLTensor, byte_offset);

COOPER_SAME_LAYOUT(dlpack::ManagedTensor, DLManagedTensor);
COOPER_SAME_FIELD(dlpack::ManagedTensor, tensor, DLManagedTensor, dl_tensor);
COOPER_SAME_FIELD(dlpack::ManagedTensor, manager_ctx, DLManagedTensor, manager_ctx);
COOPER_SAME_FIELD(dlpack::ManagedTensor, deleter, DLManagedTensor, deleter);

static_assert(dlpack::kCpu == kDLCPU);
static_assert(dlpack::kInt == int{kDLInt} && dlpack::kUInt == int{kDLUInt});
static_assert(dlpack::kFloat == int{kDLFloat} && dlpack::kBfloat == int{kDLBfloat});
static_assert(dlpack::kComplex == int{kDLComplex});

// The versioned struct, bools and flags came with 1.0.
#ifdef DLPACK_MAJOR_VERSION
static_assert(dlpack::kMajorVersion == DLPACK_MAJOR_VERSION);
static_assert(dlpack::kBool == int{kDLBool});
static_assert(dlpack::kCuda == kDLCUDA && dlpack::kCudaHost == kDLCUDAHost);
static_assert(dlpack::kCudaManaged == kDLCUDAManaged);
static_assert(dlpack::kReadOnly == DLPACK_FLAG_BITMASK_READ_ONLY);
static_assert(dlpack::kIsCopied == DLPACK_FLAG_BITMASK_IS_COPIED);

COOPER_SAME_LAYOUT(dlpack::Version, DLPackVersion);
COOPER_SAME_FIELD(dlpack::Version, major, DLPackVersion, major);
COOPER_SAME_FIELD(dlpack::Version, minor, DLPackVersion, minor);

COOPER_SAME_LAYOUT(dlpack::ManagedTensorVersioned, DLManagedTensorVersioned);
COOPER_SAME_FIELD(dlpack::ManagedTensorVersioned, version, DLManagedTensorVersioned, version);
COOPER_SAME_FIELD(dlpack::ManagedTensorVersioned, manager_ctx, DLManagedTensorVersioned,
                  manager_ctx);
COOPER_SAME_FIELD(dlpack::ManagedTensorVersioned, deleter, DLManagedTensorVersioned, deleter);
COOPER_SAME_FIELD(dlpack::ManagedTensorVersioned, flags, DLManagedTensorVersioned, flags);
COOPER_SAME_FIELD(dlpack::ManagedTensorVersioned, tensor, DLManagedTensorVersioned, dl_tensor);
#endif

TEST(DLPackLayoutTest, IsThatOfTheInstalledHeader) { SUCCEED() << "compared by the compiler"; }

}  // namespace
}  // namespace cooper

#else

TEST(DLPackLayoutTest, IsThatOfTheInstalledHeader) {
  GTEST_SKIP() << "SKIPPED: there is no dlpack/dlpack.h to compare with: "
                  "apt-get install libdlpack-dev";
}

#endif
