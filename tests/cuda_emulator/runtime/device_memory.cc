#include "tests/cuda_emulator/runtime/device_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>

#include "tests/cuda_emulator/runtime/allocation.h"
#include "tests/cuda_emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

constexpr uint64_t kFirst = 0x300000000000;    // device 0; no heap or stack comes here
constexpr uint64_t kDeviceRange = 1ull << 38;  // addresses of one device
constexpr uint64_t kPage = 4096;
constexpr size_t kFreedBeforeReuse = 16;  // of one size

uint64_t RangeOf(int device) { return kFirst + device * kDeviceRange; }
uint64_t RangeEnd() { return RangeOf(GetSettings().devices); }

// Returns the address space of an allocation: whole pages, which can be returned to the system, and
// at least one spare page.
uint64_t RoomFor(uint64_t bytes) { return (bytes + kPage) / kPage * kPage + kPage; }

struct sigaction g_previous;

// Prints a message and lets the fault happen as before. Async-signal-safe.
void OnFault(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (address - kFirst < 16 * kDeviceRange) {
    constexpr char kMessage[] = "cuda emulator: host code touches device memory\n";
    (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  }
  sigaction(SIGSEGV, &g_previous, nullptr);
}

// The address ranges of all devices, reserved at first use.
struct Ranges {
  std::map<uint64_t, Allocation> freed;                           // until used again
  std::map<int, std::map<uint64_t, std::deque<uint64_t>>> rooms;  // freed, by device and size
  uint64_t top[16] = {};                                          // where unused addresses begin

  static Ranges& Get();
  Ranges();
};

Ranges& Ranges::Get() {
  static auto* ranges = new Ranges;
  return *ranges;
}

Ranges::Ranges() {
  for (int device = 0; device < GetSettings().devices; ++device) {
    top[device] = RangeOf(device);
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

}  // namespace

uint64_t TakeDeviceMemory(int device, uint64_t bytes) {
  Ranges& ranges = Ranges::Get();
  const uint64_t room = RoomFor(bytes);
  std::deque<uint64_t>& rooms = ranges.rooms[device][room];
  if (rooms.size() > kFreedBeforeReuse) {
    const uint64_t begin = rooms.front();
    rooms.pop_front();
    ranges.freed.erase(begin);
    return begin;
  }
  if (ranges.top[device] + room > RangeOf(device) + kDeviceRange) return 0;
  const uint64_t begin = ranges.top[device];
  ranges.top[device] += room;
  return begin;
}

void ReturnDeviceMemory(const Allocation& allocation) {
  const uint64_t room = RoomFor(allocation.bytes);
  madvise(reinterpret_cast<void*>(allocation.begin), room, MADV_DONTNEED);
  Ranges::Get().rooms[allocation.device][room].push_back(allocation.begin);
  Ranges::Get().freed[allocation.begin] = allocation;
}

bool IsDeviceAddress(uint64_t address) { return address >= kFirst && address < RangeEnd(); }

const Allocation* FindReturned(uint64_t address) {
  const std::map<uint64_t, Allocation>& freed = Ranges::Get().freed;
  const auto next = freed.upper_bound(address);
  if (next == freed.begin()) return nullptr;
  const Allocation& allocation = std::prev(next)->second;
  return allocation.Holds(address) ? &allocation : nullptr;
}

void OpenDeviceMemory(bool open) {
  Ranges::Get();
  for (int device = 0; device < GetSettings().devices; ++device) {
    mprotect(reinterpret_cast<void*>(RangeOf(device)), kDeviceRange,
             open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

}  // namespace cooper::cuda_emulator
