#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_API_STATE_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_API_STATE_H_

// What all calls of the runtime share: one lock, the calling thread's device, and errors.

#include <mutex>

#include "absl/strings/string_view.h"
#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// Held by each call, and while kernels run. Whoever holds it may take it again.
class ApiLock {
 public:
  ApiLock();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

int CurrentDevice();            // of the calling thread
void SetCurrentDevice(int id);  // requires a device of that number

// A device that calls have needed has a context, for good: those that make it current, allocate on
// it or use its streams.
void NoteContext(int id);
bool HasContext(int id);

// Remembers `error` for cudaGetLastError, unless it is cudaSuccess, and returns it.
cudaError_t Return(cudaError_t error);

// The same, and says why on stderr.
cudaError_t Fail(cudaError_t error, absl::string_view why);

// An error of a kernel or of other work on a device. As on a GPU each later call that needs the
// device returns it: no result can be trusted.
cudaError_t StickyError();
void SetStickyError(cudaError_t error);

// Returns and forgets the calling thread's last error, or leaves it.
cudaError_t TakeLastError();
cudaError_t PeekLastError();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_API_STATE_H_
