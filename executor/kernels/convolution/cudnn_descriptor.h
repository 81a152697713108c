#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_DESCRIPTOR_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_DESCRIPTOR_H_

// The functions of cuDNN, which is loaded at run time, and the descriptors of its graph API
// ("backend"). For the .cc files of cuDNN's convolutions.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cudnn.h"

namespace cooper {

// The functions of cuDNN that cooper calls.
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

// Returns the functions, loaded at the first call. Errors: kFailedPrecondition, naming what is
// missing, if cuDNN or one of its functions is not found. Thread-safe.
const absl::StatusOr<CudnnFunctions>& GetCudnnFunctions();

// Returns OK, kResourceExhausted for a lack of memory, or kInternal, with the call and cuDNN's
// reason. Requires that GetCudnnFunctions() is OK.
absl::Status CudnnStatus(cudnnStatus_t status, absl::string_view call);

// A descriptor of cuDNN's graph API. The first error is kept in status(). Requires that
// GetCudnnFunctions() is OK.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  ~CudnnDescriptor();

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
  void Finalize();

  // Reads up to `most` values of an attribute. Returns how many there are, which may be more than
  // `most`. `values` may be null if `most` is 0.
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
