#include "executor/kernels/convolution/cudnn_descriptor.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/library_functions.h"

namespace cooper {
namespace {

// The library's ABI follows the major version of the headers.
std::string LibraryName() { return absl::StrCat("libcudnn.so.", CUDNN_MAJOR); }

absl::StatusOr<CudnnFunctions> LoadFunctions() {
  LibraryFunctions library(LibraryName());
  CudnnFunctions functions;
  library.Find("cudnnCreate", functions.create_handle);
  library.Find("cudnnSetStream", functions.set_stream);
  library.Find("cudnnBackendCreateDescriptor", functions.create);
  library.Find("cudnnBackendDestroyDescriptor", functions.destroy);
  library.Find("cudnnBackendSetAttribute", functions.set);
  library.Find("cudnnBackendGetAttribute", functions.get);
  library.Find("cudnnBackendFinalize", functions.finalize);
  library.Find("cudnnBackendExecute", functions.execute);
  library.Find("cudnnGetErrorString", functions.error_string);
  library.Find("cudnnGetLastErrorString", functions.last_error);
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

}  // namespace

const absl::StatusOr<CudnnFunctions>& GetCudnnFunctions() {
  static const auto* functions = new absl::StatusOr<CudnnFunctions>(LoadFunctions());
  return *functions;
}

absl::Status CudnnStatus(cudnnStatus_t status, absl::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  char reason[512] = "";
  GetCudnnFunctions()->last_error(reason, sizeof(reason));
  const std::string message =
      absl::StrCat(call, ": ", GetCudnnFunctions()->error_string(status), " ", reason);
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) {
    return absl::ResourceExhaustedError(message);
  }
  return absl::InternalError(message);
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  status_ =
      CudnnStatus(GetCudnnFunctions()->create(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)), status_(std::move(other.status_)) {}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) GetCudnnFunctions()->destroy(descriptor_);
}

void CudnnDescriptor::SetArray(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                               int64_t count, const void* values) {
  if (!status_.ok()) return;
  const cudnnStatus_t set = GetCudnnFunctions()->set(descriptor_, name, type, count, values);
  if (set == CUDNN_STATUS_SUCCESS) return;  // avoids the cost of building a message
  status_ = CudnnStatus(
      set, absl::StrCat("cudnnBackendSetAttribute of attribute ", static_cast<int>(name)));
}

void CudnnDescriptor::Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other) {
  if (status_.ok()) status_ = other.status_;
  SetArray(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
}

void CudnnDescriptor::Finalize() {
  if (!status_.ok()) return;
  status_ = CudnnStatus(GetCudnnFunctions()->finalize(descriptor_), "cudnnBackendFinalize");
}

absl::StatusOr<int64_t> CudnnDescriptor::Get(cudnnBackendAttributeName_t name,
                                             cudnnBackendAttributeType_t type, int64_t most,
                                             void* values) const {
  COOPER_RETURN_IF_ERROR(status_);
  int64_t count = 0;
  const cudnnStatus_t got = GetCudnnFunctions()->get(descriptor_, name, type, most, &count, values);
  if (got == CUDNN_STATUS_SUCCESS) return count;
  return CudnnStatus(
      got, absl::StrCat("cudnnBackendGetAttribute of attribute ", static_cast<int>(name)));
}

}  // namespace cooper
