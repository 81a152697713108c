#include "third_party/cuda/emulator/runtime/memory_map.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "third_party/cuda/emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

constexpr uint64_t kFirst = 0x300000000000;    // device 0; no heap or stack comes here
constexpr uint64_t kDeviceRange = 1ull << 38;  // addresses of one device
constexpr uint64_t kPage = 4096;
constexpr size_t kFreedBeforeReuse = 16;  // of one size

uint64_t RangeOf(int device) { return kFirst + device * kDeviceRange; }
uint64_t RangeEnd() { return RangeOf(GetSettings().devices); }

// Whole pages, so that they can be given back, and one more than fits.
uint64_t RoomFor(uint64_t bytes) { return (bytes + kPage) / kPage * kPage + kPage; }

struct sigaction g_previous;

// Async-signal-safe: says what happened, then lets the fault happen as it would have.
void OnFault(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (address - kFirst < 16 * kDeviceRange) {
    constexpr char kMessage[] = "cuda emulator: host code touches device memory\n";
    (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  }
  sigaction(SIGSEGV, &g_previous, nullptr);
}

void Protect(int protection) {
  for (int device = 0; device < GetSettings().devices; ++device) {
    mprotect(reinterpret_cast<void*>(RangeOf(device)), kDeviceRange, protection);
  }
}

}  // namespace

MemoryMap& MemoryMap::Get() {
  static auto* map = new MemoryMap;
  return *map;
}

MemoryMap::MemoryMap() {
  for (int device = 0; device < GetSettings().devices; ++device) {
    top_[device] = RangeOf(device);
    void* const wanted = reinterpret_cast<void*>(RangeOf(device));
    if (mmap(wanted, kDeviceRange, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != wanted) {
      std::perror("cuda emulator: cannot reserve addresses for device memory");
      std::abort();
    }
  }
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &g_previous);
}

uint64_t MemoryMap::TakeRoom(int device, uint64_t room) {
  std::deque<uint64_t>& rooms = rooms_[device][room];
  if (rooms.size() > kFreedBeforeReuse) {
    const uint64_t begin = rooms.front();
    rooms.pop_front();
    freed_.erase(begin);
    return begin;
  }
  if (top_[device] + room > RangeOf(device) + kDeviceRange) return 0;
  const uint64_t begin = top_[device];
  top_[device] += room;
  return begin;
}

void* MemoryMap::Allocate(MemoryKind kind, int device, uint64_t bytes) {
  Allocation allocation = {.bytes = bytes, .kind = kind, .device = device};
  if (kind != MemoryKind::kPinned) {
    if (bytes > GetSettings().memory || used_[device] > GetSettings().memory - bytes)
      return nullptr;
  }
  if (kind == MemoryKind::kDevice) {
    allocation.begin = TakeRoom(device, RoomFor(bytes));
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
  const uint64_t room = RoomFor(allocation.bytes);
  madvise(begin, room, MADV_DONTNEED);
  rooms_[allocation.device][room].push_back(allocation.begin);
  freed_[allocation.begin] = allocation;
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
  return address >= kFirst && address < RangeEnd();
}

std::string MemoryMap::Describe(uint64_t address) const {
  if (const Allocation* here = Find(address)) {
    return absl::StrCat("byte ", address - here->begin, " of an allocation of ", here->bytes,
                        " bytes of device ", here->device);
  }
  if (!InDeviceRange(address)) return "no memory of a device";
  auto freed = freed_.upper_bound(address);
  if (freed != freed_.begin() && std::prev(freed)->second.Holds(address)) {
    const Allocation& there = std::prev(freed)->second;
    return absl::StrCat("byte ", address - there.begin, " of an allocation of ", there.bytes,
                        " bytes of device ", there.device, " that was freed");
  }
  auto live = live_.upper_bound(address);
  if (live == live_.begin()) return "no allocation of a device";
  const Allocation& before = std::prev(live)->second;
  if (before.kind != MemoryKind::kDevice) return "no allocation of a device";
  return absl::StrCat(address - before.end(), " bytes past the end of an allocation of ",
                      before.bytes, " bytes of device ", before.device);
}

OpenMemory::OpenMemory() {
  if (MemoryMap::Get().opened_++ == 0) Protect(PROT_READ | PROT_WRITE);
}

OpenMemory::~OpenMemory() {
  if (--MemoryMap::Get().opened_ == 0) Protect(PROT_NONE);
}

}  // namespace cooper::cuda_emulator
