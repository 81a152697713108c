#include "ndarray/device.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

class CpuDevice : public Device {
 public:
  // CPU contexts are logical: each may have threads of its own, all share one memory.
  int Count() const override { return 1 << 16; }

  absl::StatusOr<void*> Allocate(int, int64_t bytes) override {
    void* data = nullptr;
    if (bytes < 0 || posix_memalign(&data, kStorageAlignment, static_cast<size_t>(bytes)) != 0) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes on cpu"));
    }
    return data;
  }

  void Free(int, void* data, int64_t) override { std::free(data); }

  absl::Status Copy(void* dst, Context, const void* src, Context, int64_t bytes) override {
    if (bytes > 0) std::memmove(dst, src, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }

  absl::Status FillZero(void* dst, Context, int64_t bytes) override {
    if (bytes > 0) std::memset(dst, 0, static_cast<size_t>(bytes));
    return absl::OkStatus();
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
