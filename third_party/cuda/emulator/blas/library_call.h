#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_LIBRARY_CALL_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_LIBRARY_CALL_H_

// Calls of cuBLAS's and cuSOLVER's stand-ins that solve and factor, on their handles' streams.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

struct MemoryRange {
  const void* data = nullptr;
  int64_t bytes = 0;
};

struct LibraryCall {
  std::string name;  // with what it is called for, as messages and the table of kernels have it
  int device = 0;    // the handle's, as is the stream
  cudaStream_t stream = nullptr;
  std::vector<MemoryRange> ranges;  // what has to be in memory of a device
  int64_t flops = 0;
  std::function<cudaError_t()> run;
};

// Queues the call, or captures it. False, after a message on stderr, if the handle's device is not
// the current one, there is no such stream, or a range is not all in memory of a device, which is
// asked once more when it runs.
bool QueueLibraryCall(LibraryCall call);

// Whether each of `count` pointers has `bytes` in memory of a device, for what runs.
bool PointToDevice(const char* call, const void* const* pointers, int64_t count, int64_t bytes);

// Bytes of a matrix of `columns` columns, the last of which has `rows` elements.
template <typename T>
int64_t BytesOf(int64_t rows, int64_t columns, int64_t ld) {
  return static_cast<int64_t>(sizeof(T)) *
         (rows == 0 || columns == 0 ? 0 : (columns - 1) * ld + rows);
}

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_BLAS_LIBRARY_CALL_H_
