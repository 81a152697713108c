#include "tests/cuda_emulator/runtime/api_state.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/unsupported.h"

namespace cooper::cuda_emulator {
namespace {

thread_local int t_device = 0;
thread_local cudaError_t t_last_error = cudaSuccess;
cudaError_t g_sticky_error = cudaSuccess;
std::atomic<uint64_t> g_contexts = 0;  // a bit for each device

std::recursive_mutex& Mutex() {
  static auto* mutex = new std::recursive_mutex;  // outlives static destructors that free memory
  return *mutex;
}

}  // namespace

ApiLock::ApiLock() : lock_(Mutex()) {}

int CurrentDevice() { return t_device; }

void SetCurrentDevice(int id) { t_device = id; }

void NoteContext(int id) { g_contexts |= uint64_t{1} << id; }

bool HasContext(int id) { return (g_contexts >> id & 1) != 0; }

cudaError_t Return(cudaError_t error) {
  if (error != cudaSuccess) t_last_error = error;
  return error;
}

cudaError_t Fail(cudaError_t error, absl::string_view why) {
  std::fprintf(stderr, "cuda emulator: %.*s\n", static_cast<int>(why.size()), why.data());
  return Return(error);
}

cudaError_t StickyError() { return g_sticky_error; }

void SetStickyError(cudaError_t error) {
  if (g_sticky_error == cudaSuccess) g_sticky_error = error;
}

cudaError_t TakeLastError() { return std::exchange(t_last_error, g_sticky_error); }

cudaError_t PeekLastError() { return t_last_error; }

int Unsupported(const char* call) {
  return Fail(cudaErrorNotSupported, absl::StrCat(call, " is not supported"));
}

}  // namespace cooper::cuda_emulator
