#include "tests/cuda_emulator/runtime/memory_map.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/cuda_emulator/runtime/allocation.h"
#include "tests/cuda_emulator/runtime/device_memory.h"
#include "tests/cuda_emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

constexpr uint64_t kPage = 4096;

// Returns the size of an allocation in memory: whole pages, with at least one spare page.
uint64_t RoomFor(uint64_t bytes) { return (bytes + kPage) / kPage * kPage + kPage; }

}  // namespace

MemoryMap& MemoryMap::Get() {
  static auto* map = new MemoryMap;
  return *map;
}

void* MemoryMap::Allocate(MemoryKind kind, int device, uint64_t bytes) {
  Allocation allocation = {.bytes = bytes, .kind = kind, .device = device};
  if (kind != MemoryKind::kPinned) {
    if (bytes > GetSettings().memory || used_[device] > GetSettings().memory - bytes)
      return nullptr;
  }
  if (kind == MemoryKind::kDevice) {
    allocation.begin = TakeDeviceMemory(device, bytes);
  } else {
    allocation.begin = reinterpret_cast<uint64_t>(std::aligned_alloc(kPage, RoomFor(bytes)));
  }
  if (allocation.begin == 0) return nullptr;
  if (kind != MemoryKind::kPinned) used_[device] += bytes;
  live_[allocation.begin] = allocation;
  const OpenMemory open;
  return std::memset(reinterpret_cast<void*>(allocation.begin), 0xFF, bytes);
}

bool MemoryMap::Register(void* begin, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(begin);
  if (InDeviceRange(address)) return false;
  const auto next = live_.lower_bound(address);
  if (next != live_.end() && next->first < address + bytes) return false;
  if (Find(address) != nullptr) return false;
  live_[address] = {
      .begin = address, .bytes = bytes, .kind = MemoryKind::kPinned, .registered = true};
  return true;
}

bool MemoryMap::Free(void* begin, MemoryKind kind) {
  const auto found = live_.find(reinterpret_cast<uint64_t>(begin));
  if (found == live_.end() || found->second.kind != kind || found->second.registered) return false;
  const Allocation allocation = found->second;
  live_.erase(found);
  if (kind != MemoryKind::kPinned) used_[allocation.device] -= allocation.bytes;
  if (kind != MemoryKind::kDevice) {
    std::free(begin);
    return true;
  }
  ReturnDeviceMemory(allocation);
  return true;
}

bool MemoryMap::Unregister(void* begin) {
  const auto found = live_.find(reinterpret_cast<uint64_t>(begin));
  if (found == live_.end() || !found->second.registered) return false;
  live_.erase(found);
  return true;
}

const Allocation* MemoryMap::Find(uint64_t address) const {
  auto next = live_.upper_bound(address);
  if (next == live_.begin()) return nullptr;
  const Allocation& allocation = std::prev(next)->second;
  return allocation.Holds(address) ? &allocation : nullptr;
}

bool MemoryMap::InDeviceRange(uint64_t address) const {
  if (IsDeviceAddress(address)) return true;
  const Allocation* there = Find(address);
  return there != nullptr && there->kind == MemoryKind::kDevice;
}

std::string MemoryMap::Describe(uint64_t address) const {
  if (const Allocation* here = Find(address)) {
    return absl::StrCat("byte ", address - here->begin, " of an allocation of ", here->bytes,
                        " bytes of device ", here->device);
  }
  if (!InDeviceRange(address)) return "no memory of a device";
  if (const Allocation* there = FindReturned(address)) {
    return absl::StrCat("byte ", address - there->begin, " of an allocation of ", there->bytes,
                        " bytes of device ", there->device, " that was freed");
  }
  auto live = live_.upper_bound(address);
  if (live == live_.begin()) return "no allocation of a device";
  const Allocation& before = std::prev(live)->second;
  if (before.kind != MemoryKind::kDevice) return "no allocation of a device";
  return absl::StrCat(address - before.end(), " bytes past the end of an allocation of ",
                      before.bytes, " bytes of device ", before.device);
}

OpenMemory::OpenMemory() {
  if (MemoryMap::Get().opened_++ == 0) OpenDeviceMemory(true);
}

OpenMemory::~OpenMemory() {
  if (--MemoryMap::Get().opened_ == 0) OpenDeviceMemory(false);
}

}  // namespace cooper::cuda_emulator
