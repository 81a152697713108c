#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_API_STATE_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_API_STATE_H_

// State that all calls of the runtime share: one lock, the calling thread's device, and errors.

#include <mutex>

#include "absl/strings/string_view.h"
#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// The lock of all calls, also held while kernels run. Recursive.
class ApiLock {
 public:
  ApiLock();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

int CurrentDevice();            // of the calling thread
void SetCurrentDevice(int id);  // requires a device of that number

// Marks a device as having a context, permanently. Calls that make it current, allocate on it or
// use its streams do so.
void NoteContext(int id);
bool HasContext(int id);

// Stores `error` for cudaGetLastError, unless it is cudaSuccess, and returns it.
cudaError_t Return(cudaError_t error);

// Stores and returns `error` like Return, and prints the reason to stderr.
cudaError_t Fail(cudaError_t error, absl::string_view why);

// Returns the error of a kernel or of other work on a device. As on a GPU, all later calls that
// need the device return it, because no result is valid.
cudaError_t StickyError();
void SetStickyError(cudaError_t error);

// Returns the calling thread's last error. Take also clears it.
cudaError_t TakeLastError();
cudaError_t PeekLastError();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_API_STATE_H_
