// Calls that access variables of device code.

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/copy.h"
#include "tests/cuda_emulator/runtime/program.h"

namespace cooper::cuda_emulator {
namespace {

// Returns the address of a variable on the current device; null after Fail().
char* SymbolAddress(const char* call, const void* symbol, size_t bytes, size_t offset) {
  const DeviceVariable* variable = FindVariable(symbol);
  if (variable == nullptr || offset > variable->bytes || bytes > variable->bytes - offset) {
    Fail(cudaErrorInvalidSymbol, absl::StrCat(call, ": no such variable, or a smaller one"));
    return nullptr;
  }
  absl::StatusOr<const ptx::Module*> module = variable->binary->Load();
  if (!module.ok()) {
    Fail(cudaErrorInvalidSymbol, absl::StrCat(call, ": ", module.status().message()));
    return nullptr;
  }
  absl::StatusOr<absl::Span<const uint64_t>> addresses = variable->binary->Place(CurrentDevice());
  const ptx::Variable* found = (*module)->FindVariable(variable->name);
  if (!addresses.ok() || found == nullptr) {
    Fail(cudaErrorInvalidSymbol, absl::StrCat(call, ": no variable ", variable->name));
    return nullptr;
  }
  return reinterpret_cast<char*>((*addresses)[found - (*module)->variables().data()]) + offset;
}

}  // namespace

extern "C" {

cudaError_t cudaGetSymbolAddress(void** result, const void* symbol) {
  const ApiLock lock;
  *result = SymbolAddress("cudaGetSymbolAddress", symbol, 0, 0);
  return *result != nullptr ? cudaSuccess : cudaErrorInvalidSymbol;
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const ApiLock lock;
  const DeviceVariable* variable = FindVariable(symbol);
  if (variable == nullptr) return Fail(cudaErrorInvalidSymbol, "cudaGetSymbolSize: no variable");
  *bytes = variable->bytes;
  return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  const ApiLock lock;
  char* dst = SymbolAddress("cudaMemcpyToSymbol", symbol, bytes, offset);
  if (dst == nullptr) return cudaErrorInvalidSymbol;
  return Copy("cudaMemcpyToSymbol", dst, src, bytes, kind, nullptr, true);
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  const ApiLock lock;
  const char* src = SymbolAddress("cudaMemcpyFromSymbol", symbol, bytes, offset);
  if (src == nullptr) return cudaErrorInvalidSymbol;
  return Copy("cudaMemcpyFromSymbol", dst, src, bytes, kind, nullptr, true);
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
