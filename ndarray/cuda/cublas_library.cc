#include "ndarray/cuda/cublas_library.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/library_functions.h"

namespace cooper {
namespace {

absl::StatusOr<CublasFunctions> LoadFunctions() {
  LibraryFunctions library(CublasLibraryName(), " is needed for products on a gpu and");
  CublasFunctions functions;
  library.Find("cublasCreate_v2", functions.create);
  library.Find("cublasSetStream_v2", functions.set_stream);
  library.Find("cublasSgemm_v2_64", functions.sgemm);
  library.Find("cublasGetStatusString", functions.status_string);
  library.FindOptional("cublasGemmEx_64", functions.gemm_ex);
  library.FindOptional("cublasGemmStridedBatchedEx_64", functions.gemm_batched);
  library.FindOptional("cublasSetMathMode", functions.set_math_mode);
  library.FindOptional("cublasSetWorkspace_v2", functions.set_workspace);
  library.FindOptional("cublasStrsm_v2_64", functions.strsm);
  library.FindOptional("cublasDtrsm_v2_64", functions.dtrsm);
  library.FindOptional("cublasStrsmBatched_64", functions.strsm_batched);
  library.FindOptional("cublasDtrsmBatched_64", functions.dtrsm_batched);
  library.FindOptional("cublasSgetrfBatched", functions.sgetrf_batched);
  library.FindOptional("cublasDgetrfBatched", functions.dgetrf_batched);
  library.FindOptional("cublasSgetrsBatched", functions.sgetrs_batched);
  library.FindOptional("cublasDgetrsBatched", functions.dgetrs_batched);
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

// Returns whether work in `stream` runs in the device's own queue, directly or as part of a graph.
absl::StatusOr<bool> RunsInQueue(const CublasHandle& handle, cudaStream_t stream) {
  if (stream == handle.queue) return true;
  if (stream == nullptr) return false;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  COOPER_RETURN_IF_ERROR(
      CudaStatus(cudaStreamIsCapturing(stream, &capturing), "cudaStreamIsCapturing"));
  return capturing == cudaStreamCaptureStatusActive;
}

}  // namespace

std::string CublasLibraryName() { return absl::StrCat("libcublas.so.", CUBLAS_VER_MAJOR); }

const absl::StatusOr<CublasFunctions>& GetCublasFunctions() {
  static const auto* functions = new absl::StatusOr<CublasFunctions>(LoadFunctions());
  return *functions;
}

absl::Status CublasStatus(cublasStatus_t status, absl::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(call, ": ", GetCublasFunctions()->status_string(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

absl::Status UseStream(const CublasHandle& handle, cudaStream_t stream) {
  // Removes the workspace.
  COOPER_RETURN_IF_ERROR(
      CublasStatus(GetCublasFunctions()->set_stream(handle.cublas, stream), "cublasSetStream"));
  if (handle.workspace == nullptr) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const bool in_queue, RunsInQueue(handle, stream));
  if (!in_queue) return absl::OkStatus();
  return CublasStatus(
      GetCublasFunctions()->set_workspace(handle.cublas, handle.workspace, kCublasWorkspaceBytes),
      "cublasSetWorkspace");
}

}  // namespace cooper
