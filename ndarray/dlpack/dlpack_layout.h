#ifndef COOPER_NDARRAY_DLPACK_DLPACK_LAYOUT_H_
#define COOPER_NDARRAY_DLPACK_DLPACK_LAYOUT_H_

// The memory layouts of DLPack 1.x (https://dmlc.github.io/dlpack), in which libraries pass tensors
// to each other. A namespace of their own keeps them apart from the global structs of dlpack.h,
// which a program may include too: dlpack.h's pointers and these have the same meaning, and a
// pointer of one kind may be converted to the other with reinterpret_cast.
//
// Everything here is a fact of the specification and never changes within major version 1.

#include <cstddef>
#include <cstdint>

namespace cooper::dlpack {

// The version that exported tensors state. Importers accept every minor version.
inline constexpr uint32_t kMajorVersion = 1;
inline constexpr uint32_t kMinorVersion = 1;

// Kinds of devices that cooper names; it has memory on kCpu and kCuda only.
inline constexpr int32_t kCpu = 1;
inline constexpr int32_t kCuda = 2;
inline constexpr int32_t kCudaHost = 3;  // memory of the CPU that is pinned for a GPU
inline constexpr int32_t kCudaManaged = 13;

// Kinds of elements, of which `bits` tells the width. A pair of code and width that none of
// cooper's dtypes has, such as handles and complex numbers, cannot be imported.
enum TypeCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kOpaqueHandle = 3,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
};

// Bits of ManagedTensorVersioned::flags.
inline constexpr uint64_t kReadOnly = 1;  // nobody may write to the elements
inline constexpr uint64_t kIsCopied = 2;  // the exporter made a copy for the importer

// DLPackVersion.
struct Version {
  uint32_t major;
  uint32_t minor;
};

// DLDevice.
struct Device {
  int32_t type;
  int32_t id;  // 0 for memory of the CPU
};

// DLDataType. `lanes` is 1 for all but vectors.
struct DataType {
  uint8_t code;  // TypeCode, or a code of a later version
  uint8_t bits;
  uint16_t lanes;
};

// DLTensor. Owns nothing.
struct Tensor {
  void* data;  // null if there are no elements
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;        // `ndim` extents
  int64_t* strides;      // `ndim` strides in elements; null for row-major elements without gaps
  uint64_t byte_offset;  // of the first element, from `data`
};

// DLManagedTensor. Its owner calls `deleter`, unless that is null, exactly once and passes the
// struct itself. The call destroys the struct. This is the form from before version 1.0. It has no
// flags, so it cannot say that the elements are read-only.
struct ManagedTensor {
  Tensor tensor;
  void* manager_ctx;  // the exporter's
  void (*deleter)(ManagedTensor* self);
};

// DLManagedTensorVersioned. If `version.major` is another one, only `deleter` may be used: the
// first three fields have the same places in every version.
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned* self);
  uint64_t flags;
  Tensor tensor;
};

// The layout is that of the platforms with 8-byte pointers.
static_assert(sizeof(Version) == 8 && sizeof(Device) == 8 && sizeof(DataType) == 4);
static_assert(offsetof(Device, id) == 4);
static_assert(offsetof(DataType, bits) == 1 && offsetof(DataType, lanes) == 2);
static_assert(sizeof(Tensor) == 48 && alignof(Tensor) == 8);
static_assert(offsetof(Tensor, data) == 0 && offsetof(Tensor, device) == 8);
static_assert(offsetof(Tensor, ndim) == 16 && offsetof(Tensor, dtype) == 20);
static_assert(offsetof(Tensor, shape) == 24 && offsetof(Tensor, strides) == 32);
static_assert(offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(ManagedTensor) == 64 && offsetof(ManagedTensor, tensor) == 0);
static_assert(offsetof(ManagedTensor, manager_ctx) == 48 && offsetof(ManagedTensor, deleter) == 56);
static_assert(sizeof(ManagedTensorVersioned) == 80);
static_assert(offsetof(ManagedTensorVersioned, version) == 0);
static_assert(offsetof(ManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(ManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(ManagedTensorVersioned, flags) == 24);
static_assert(offsetof(ManagedTensorVersioned, tensor) == 32);

}  // namespace cooper::dlpack

#endif  // COOPER_NDARRAY_DLPACK_DLPACK_LAYOUT_H_
