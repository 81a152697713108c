#ifndef COOPER_NDARRAY_CUDA_CUBLAS_LIBRARY_H_
#define COOPER_NDARRAY_CUDA_CUBLAS_LIBRARY_H_

// cuBLAS itself, for the sources of cublas.h: its functions, opened at run time, and handles.

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cublas_v2.h"

namespace cooper {

// The major version of the headers is the library's ABI.
std::string CublasLibraryName();

struct CublasFunctions {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSgemm_v2_64) sgemm = nullptr;  // extents are int64_t
  decltype(&cublasGetStatusString) status_string = nullptr;
  // Null where the library lacks them.
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

// kFailedPrecondition, saying where it was looked for, if the library is not installed.
const absl::StatusOr<CublasFunctions>& GetCublasFunctions();

// Requires that the functions are there.
absl::Status CublasStatus(cublasStatus_t status, absl::string_view call);

// What NVIDIA recommends for an H100; earlier GPUs need less.
inline constexpr size_t kCublasWorkspaceBytes = size_t{32} << 20;

struct CublasHandle {
  cublasHandle_t cublas = nullptr;
  cudaStream_t queue = nullptr;  // of the device's own queue (QueueOf)
  void* workspace = nullptr;     // of that queue, or null: the library then sees to itself
};

// Makes the handle put its work into `stream`. The library must not allocate in what is captured,
// and chooses an algorithm by the size of its workspace: what is launched has the same one as what
// is recorded, so that both have the same bits. Work of one queue can share it, which other streams
// must not use meanwhile.
absl::Status UseStream(const CublasHandle& handle, cudaStream_t stream);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUBLAS_LIBRARY_H_
