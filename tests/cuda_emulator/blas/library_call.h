#ifndef COOPER_TESTS_CUDA_EMULATOR_BLAS_LIBRARY_CALL_H_
#define COOPER_TESTS_CUDA_EMULATOR_BLAS_LIBRARY_CALL_H_

// Queues calls of the stand-ins for cuBLAS and cuSOLVER that solve and factor, on their handles'
// streams.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// A range of device memory that a call accesses.
struct MemoryRange {
  const void* data = nullptr;
  int64_t bytes = 0;
};

// A call of a library: its description and the function that computes it on the CPU.
struct LibraryCall {
  std::string name;  // name and arguments, for messages and the table of kernels
  int device = 0;    // device of the handle and of the stream
  cudaStream_t stream = nullptr;
  std::vector<MemoryRange> ranges;  // ranges that must be in memory of a device
  int64_t flops = 0;
  std::function<cudaError_t()> run;
};

// Queues or captures the call. Returns false, after a message on stderr, if the handle's device is
// not the current one, the stream does not exist, or a range is not completely in memory of a
// device. The ranges are checked again when the call runs.
bool QueueLibraryCall(LibraryCall call);

// Returns whether each of `count` pointers has `bytes` in memory of a device. For calls that run.
bool PointToDevice(const char* call, const void* const* pointers, int64_t count, int64_t bytes);

// Returns the bytes of a matrix with `columns` columns, the last of which has `rows` elements.
template <typename T>
int64_t BytesOf(int64_t rows, int64_t columns, int64_t ld) {
  return static_cast<int64_t>(sizeof(T)) *
         (rows == 0 || columns == 0 ? 0 : (columns - 1) * ld + rows);
}

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_BLAS_LIBRARY_CALL_H_
