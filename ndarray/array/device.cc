#include "ndarray/array/device.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

// Blocks of at least a huge page are mapped; smaller ones come from the heap. With AddressSanitizer
// all blocks do, because it checks only accesses to the heap.
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
constexpr int64_t kMinMapped = int64_t{1} << 62;
#else
constexpr int64_t kMinMapped = int64_t{2} << 20;
#endif
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 61;

int64_t MappedBytes(int64_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

// Maps zero pages, or returns null if memory is short. The kernel creates them at the first touch,
// as huge pages where it can: products traverse whole matrices and would miss the TLB with small
// pages.
void* Map(int64_t bytes) {
  const int64_t wanted = MappedBytes(bytes);
  void* mapped =
      mmap(nullptr, wanted + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // Unmaps the parts before and after the aligned range.
  char* begin = static_cast<char*>(mapped);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const auto before = static_cast<int64_t>((kHugePage - address % kHugePage) % kHugePage);
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + wanted, kHugePage - before);
  madvise(begin + before, wanted, MADV_HUGEPAGE);
  return begin + before;
}

class CpuQueue : public DeviceQueue {
 public:
  void* handle() const override { return nullptr; }
  absl::Status WaitFor(DeviceQueue& other) override { return other.Synchronize(); }
  absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                    int64_t bytes) override {
    return CopyBytes(dst, dst_context, src, src_context, bytes);
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class CpuDevice : public Device {
 public:
  // CPU contexts are logical: each may have threads of its own, and all share one memory.
  int Count() const override { return 1 << 16; }

  absl::StatusOr<void*> Allocate(int, int64_t bytes) override {
    void* data = nullptr;
    if (bytes >= kMinMapped) {
      data = bytes > kMaxBytes ? nullptr : Map(bytes);
    } else if (posix_memalign(&data, kStorageAlignment, static_cast<size_t>(bytes)) != 0) {
      data = nullptr;
    }
    if (data != nullptr) return data;
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes on cpu"));
  }

  bool AllocatesZeros(int64_t bytes) const override { return bytes >= kMinMapped; }

  void Free(int, void* data, int64_t bytes) override {
    if (bytes >= kMinMapped) {
      munmap(data, MappedBytes(bytes));
    } else {
      std::free(data);
    }
  }

  absl::Status Copy(void* dst, Context, const void* src, Context, int64_t bytes) override {
    if (bytes > 0) std::memmove(dst, src, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }

  absl::Status FillZero(void* dst, Context, int64_t bytes) override {
    if (bytes > 0) std::memset(dst, 0, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int) override {
    return std::make_unique<CpuQueue>();
  }
};

std::array<Device*, 3>& Devices() {
  static std::array<Device*, 3> devices = {nullptr, new CpuDevice, nullptr};
  return devices;
}

}  // namespace

void RegisterDevice(DeviceType type, Device* device) { Devices()[static_cast<int>(type)] = device; }

absl::StatusOr<Device*> FindDevice(Context context) {
  Device* device = Devices()[static_cast<int>(context.device_type)];
  if (device == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(context.ToString(), ": this program was linked without support for it"));
  }
  if (context.device_id < 0 || context.device_id >= device->Count()) {
    return absl::NotFoundError(
        absl::StrCat(context.ToString(), ": there are ", device->Count(), " such devices"));
  }
  return device;
}

absl::Status CopyBytes(void* dst, Context dst_context, const void* src, Context src_context,
                       int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  absl::StatusOr<Device*> device = FindDevice(dst_context.is_cpu() ? src_context : dst_context);
  if (!device.ok()) return device.status();
  return (*device)->Copy(dst, dst_context, src, src_context, bytes);
}

}  // namespace cooper
