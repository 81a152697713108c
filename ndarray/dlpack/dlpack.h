#ifndef COOPER_NDARRAY_DLPACK_DLPACK_H_
#define COOPER_NDARRAY_DLPACK_DLPACK_H_

// Passes arrays to other libraries (PyTorch, NumPy, CuPy, JAX, ...) and takes theirs, without a
// copy, in the structs of DLPack 1.x. MXNet: to_dlpack_for_read, to_dlpack_for_write, from_dlpack.
//
// The structs are those of dlpack.h, which this header only declares: include dlpack.h, or
// dlpack_layout.h for cooper's own definitions, to look into them. Every dtype of an NDArray exists
// in DLPack. Devices are the CPU (kDLCPU) and NVIDIA GPUs (kDLCUDA), whose number is the context's.
//
// All functions are thread-safe, and a deleter may be called in any thread.

#include <memory>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace cooper {

// Calls the struct's own deleter, if it has one.
struct DLPackDeleter {
  void operator()(DLManagedTensor* tensor) const;
  void operator()(DLManagedTensorVersioned* tensor) const;
};

// An exported tensor that nobody has taken yet. release() passes it on to a consumer, which calls
// its deleter.
using DLManagedTensorPtr = std::unique_ptr<DLManagedTensor, DLPackDeleter>;
using DLManagedTensorVersionedPtr = std::unique_ptr<DLManagedTensorVersioned, DLPackDeleter>;

// Options of ToDLPack. Without them the consumer shares the array's memory and may write to it.
struct ToDLPackOptions {
  // Forbids the consumer to write to the elements (DLPACK_FLAG_BITMASK_READ_ONLY).
  bool read_only = false;
  // Exports a copy, which nobody else writes to (DLPACK_FLAG_BITMASK_IS_COPIED).
  bool copy = false;
};

// Return a tensor with the elements of `array`. It keeps the array's storage until its deleter is
// called; without a copy, writes on one side are seen on the other. The versioned struct is for
// consumers of DLPack 1.x, the other for older ones; PyTorch takes both. Strides
// are always given, `byte_offset` is 0, and the data pointer is null if there are no elements.
//
// Pending work on the array's GPU is awaited, so that the consumer may use any stream. The consumer
// must have finished its own work with the tensor when it calls the deleter. The context of an
// array on the CPU becomes device 0, as the specification demands.
//
// Errors: kFailedPrecondition for a null array, those of NDArray::Copy, and errors of earlier work
// on the GPU.
absl::StatusOr<DLManagedTensorPtr> ToDLPack(const NDArray& array);
absl::StatusOr<DLManagedTensorVersionedPtr> ToDLPackVersioned(const NDArray& array,
                                                              const ToDLPackOptions& options = {});

// When FromDLPack copies the elements.
enum class DLPackCopy {
  kNever,     // elements that an NDArray cannot share are an error
  kIfNeeded,  // elements that an NDArray cannot share are copied
  kAlways,    // the array has elements of its own
};

// Options of FromDLPack: whether memory that an NDArray cannot use is copied or refused.
struct FromDLPackOptions {
  DLPackCopy copy = DLPackCopy::kNever;
};

// Return an array with the elements of `tensor`, on the same device, and take ownership of the
// tensor: its deleter is called when the last NDArray that shares the elements is gone, at once if
// they are copied. On a GPU, the deleter is called after cooper's pending work has ended. After an
// error the caller still owns the tensor.
//
// The exporter's writes must have finished, or be ordered before work of cooper's queue
// (queue_of.h), as with any work on an array.
//
// An NDArray cannot share, and FromDLPack copies on request:
//  - elements that are not in row-major order without gaps (transposed, sliced, broadcast);
//  - elements at an address that is no multiple of their size, which kernels do not accept. Any
//    other address is good: kernels take wider steps only where the address allows it;
//  - a read-only tensor, since every NDArray may be written to;
//  - bools other than 0 and 1 (checked on a CPU only), which a copy makes 1.
//
// Errors, all of which name what was found and what is expected: kInvalidArgument for a null
// tensor, a negative number of axes or more than 64, negative extents, a size beyond int64, null
// data or shape, vectors (lanes), and for elements that cannot be shared if copy is kNever;
// kUnimplemented for dtypes and devices that cooper does not have, and for another major version of
// DLPack; those of FindDevice (device.h) for a GPU; those of NDArray::Empty for a copy.
absl::StatusOr<NDArray> FromDLPack(DLManagedTensor* tensor, const FromDLPackOptions& options = {});
absl::StatusOr<NDArray> FromDLPack(DLManagedTensorVersioned* tensor,
                                   const FromDLPackOptions& options = {});

}  // namespace cooper

#endif  // COOPER_NDARRAY_DLPACK_DLPACK_H_
