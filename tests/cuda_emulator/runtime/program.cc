#include "tests/cuda_emulator/runtime/program.h"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/runtime/device_limits.h"
#include "tests/cuda_emulator/runtime/fat_binary.h"
#include "tests/cuda_emulator/runtime/memory_map.h"

namespace cooper::cuda_emulator {
namespace {

std::map<const void*, Kernel>& Kernels() {
  static auto* kernels = new std::map<const void*, Kernel>;
  return *kernels;
}

std::map<const void*, DeviceVariable>& Variables() {
  static auto* variables = new std::map<const void*, DeviceVariable>;
  return *variables;
}

std::string Demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (status != 0) return name;
  std::string readable = text;
  std::free(text);
  return readable;
}

}  // namespace

absl::StatusOr<const ptx::Module*> Binary::Load() {
  if (module_ != nullptr || !status_.ok()) {
    if (!status_.ok()) return status_;
    return module_.get();
  }
  absl::StatusOr<std::string> text = FindPtx(data_, kComputeCapability);
  if (!text.ok()) return status_ = text.status();
  absl::StatusOr<std::unique_ptr<ptx::Module>> module = ptx::Module::Parse(*std::move(text));
  if (!module.ok()) return status_ = module.status();
  module_ = *std::move(module);
  return module_.get();
}

absl::StatusOr<absl::Span<const uint64_t>> Binary::Place(int device) {
  const auto known = addresses_.find(device);
  if (known != addresses_.end()) return known->second;
  std::vector<uint64_t> addresses;
  for (const ptx::Variable& variable : module_->variables()) {
    void* data = nullptr;
    if (variable.size > 0 && !variable.is_extern) {
      data = MemoryMap::Get().Allocate(MemoryKind::kDevice, device, variable.size);
      if (data == nullptr) {
        return absl::ResourceExhaustedError(
            absl::StrCat("no memory for the variable ", variable.name));
      }
    }
    addresses.push_back(reinterpret_cast<uint64_t>(data));
  }
  const OpenMemory open;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] == 0) continue;
    absl::StatusOr<std::vector<uint8_t>> bytes =
        module_->InitialBytes(static_cast<int>(i), addresses);
    if (!bytes.ok()) return bytes.status();
    std::memcpy(reinterpret_cast<void*>(addresses[i]), bytes->data(), bytes->size());
  }
  return addresses_[device] = std::move(addresses);
}

Binary* AddBinary(const void* data) { return new Binary(data); }

void AddKernel(const void* host, Binary* binary, const char* name) {
  Kernels()[host] = {.binary = binary, .name = name, .readable = Demangled(name)};
}

void AddVariable(const void* host, Binary* binary, const char* name, uint64_t bytes) {
  Variables()[host] = {.binary = binary, .name = name, .bytes = bytes};
}

Kernel* FindKernel(const void* host) {
  const auto found = Kernels().find(host);
  return found == Kernels().end() ? nullptr : &found->second;
}

const DeviceVariable* FindVariable(const void* host) {
  const auto found = Variables().find(host);
  return found == Variables().end() ? nullptr : &found->second;
}

}  // namespace cooper::cuda_emulator
