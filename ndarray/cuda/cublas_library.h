#ifndef COOPER_NDARRAY_CUDA_CUBLAS_LIBRARY_H_
#define COOPER_NDARRAY_CUDA_CUBLAS_LIBRARY_H_

// Opens cuBLAS at run time, and keeps its functions and handles, for the sources of cublas.h.

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cublas_v2.h"

namespace cooper {

// Returns the library's file name, "libcublas.so.13". Its number, the library's ABI, is the major
// version of the headers that cooper was compiled with.
std::string CublasLibraryName();

// The functions of the library that cooper calls, found by name when the library is opened.
struct CublasFunctions {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSgemm_v2_64) sgemm = nullptr;  // extents are int64_t
  decltype(&cublasGetStatusString) status_string = nullptr;
  // The functions below are null where the library lacks them.
  decltype(&cublasGemmEx_64) gemm_ex = nullptr;
  decltype(&cublasGemmStridedBatchedEx_64) gemm_batched = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&cublasStrsm_v2_64) strsm = nullptr;
  decltype(&cublasDtrsm_v2_64) dtrsm = nullptr;
  decltype(&cublasStrsmBatched_64) strsm_batched = nullptr;
  decltype(&cublasDtrsmBatched_64) dtrsm_batched = nullptr;
  decltype(&cublasSgetrfBatched) sgetrf_batched = nullptr;
  decltype(&cublasDgetrfBatched) dgetrf_batched = nullptr;
  decltype(&cublasSgetrsBatched) sgetrs_batched = nullptr;
  decltype(&cublasDgetrsBatched) dgetrs_batched = nullptr;
};

// Returns the functions. kFailedPrecondition, with the searched places, if the library is not
// installed.
const absl::StatusOr<CublasFunctions>& GetCublasFunctions();

// Converts a cuBLAS status to kResourceExhausted for a failed allocation, else to kInternal; the
// message names `call`. Requires that GetCublasFunctions() is OK.
absl::Status CublasStatus(cublasStatus_t status, absl::string_view call);

// The size of a handle's workspace: NVIDIA's recommendation for an H100; earlier GPUs need less.
inline constexpr size_t kCublasWorkspaceBytes = size_t{32} << 20;

// The cuBLAS handle of a device, kept until the program ends. Used by one thread at a time.
struct CublasHandle {
  cublasHandle_t cublas = nullptr;
  cudaStream_t queue = nullptr;  // the device's own queue (GetQueue)
  void* workspace = nullptr;     // for work in that queue; null: the library allocates its own
};

// Directs the handle's work to `stream`. cuBLAS must not allocate during a capture, and it chooses
// an algorithm by the size of its workspace. The device's own queue and its recordings share one
// workspace, so that launched and recorded work have the same bits; other streams must not use that
// workspace at the same time.
absl::Status UseStream(const CublasHandle& handle, cudaStream_t stream);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUBLAS_LIBRARY_H_
