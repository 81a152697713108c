#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_DESCRIPTOR_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_DESCRIPTOR_H_

// The functions of cuDNN, which is loaded at run time, and the descriptors of its graph API
// ("backend"). For the .cc files of cuDNN's convolutions, which cudnn_plan.h and cudnn_handle.h
// hide from other files: this header includes cuDNN's.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cudnn.h"

namespace cooper {

// The functions of cuDNN that cooper calls. All are set in a result of GetCudnnFunctions().
struct CudnnFunctions {
  decltype(&cudnnCreate) create_handle = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnBackendCreateDescriptor) create = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) destroy = nullptr;
  decltype(&cudnnBackendSetAttribute) set = nullptr;
  decltype(&cudnnBackendGetAttribute) get = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;
  decltype(&cudnnGetErrorString) error_string = nullptr;
  decltype(&cudnnGetLastErrorString) last_error = nullptr;
};

// Returns the functions, loaded at the first call from the library of the headers' major version.
// The result lives as long as the process. Thread-safe.
//
// Errors: kFailedPrecondition, naming what is missing, if cuDNN or one of its functions is not
// found.
const absl::StatusOr<CudnnFunctions>& GetCudnnFunctions();

// Returns OK, kResourceExhausted for a lack of memory, or kInternal, with the call and cuDNN's
// reason. `call` names the function that returned `status`, with details. Requires that
// GetCudnnFunctions() is OK.
absl::Status CudnnStatus(cudnnStatus_t status, absl::string_view call);

// A descriptor of cuDNN's graph API, which it owns. The first error is kept in status(), and later
// calls then do nothing, so a sequence of Set and Finalize needs one check at its end. Requires
// that GetCudnnFunctions() is OK. Not thread-safe.
//
//   CudnnDescriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
//   d.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
//   d.Finalize();
//   if (!d.status().ok()) return d.status();
class CudnnDescriptor {
 public:
  // Creates a descriptor. An error is kept in status().
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  ~CudnnDescriptor();

  // Set an attribute before Finalize: to one value, whose C++ type must be that of `type`; to
  // integers; to another descriptor, which must be finalized and whose error, if any, becomes this
  // one's; or to `count` values. cuDNN copies the values.
  template <typename T>
  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    SetArray(name, type, 1, &value);
  }
  void Set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    SetArray(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  void Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other);
  void SetArray(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                const void* values);
  // Makes cuDNN check the attributes. Attributes can be read, but not set, afterwards.
  void Finalize();

  // Reads up to `most` values of an attribute. Returns how many there are, which may be more than
  // `most`. `values` may be null if `most` is 0. For attributes that are descriptors, `values` are
  // existing descriptors, which cuDNN fills.
  //
  // Errors: status(), or those of CudnnStatus; this object's status does not change.
  absl::StatusOr<int64_t> Get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                              int64_t most, void* values) const;

  const absl::Status& status() const { return status_; }
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  absl::Status status_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_DESCRIPTOR_H_
