#include "ndarray/array/storage.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/device.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Blocks above this size return to the device at once: they are few (arenas, embedding tables), and
// keeping them would double the peak when larger ones replace them.
constexpr int64_t kLargestPooled = int64_t{1} << 20;
constexpr int64_t kPoolCap = int64_t{64} << 20;

int64_t BlockBytes(int64_t bytes) {
  const int64_t least = std::max(bytes, kStorageAlignment);
  if (least > kLargestPooled) {
    return (least + kStorageAlignment - 1) / kStorageAlignment * kStorageAlignment;
  }
  int64_t block = kStorageAlignment;
  while (block < least) block *= 2;
  return block;
}

// The freed blocks by device and size class. Uses std::mutex, which ThreadSanitizer understands.
class Pool {
 public:
  void* Take(Context context, int64_t block_bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = free_.find({context, block_bytes});
    if (it == free_.end() || it->second.empty()) return nullptr;
    void* data = it->second.back();
    it->second.pop_back();
    held_[static_cast<int>(context.device_type)] -= block_bytes;
    return data;
  }

  bool Give(Context context, void* data, int64_t block_bytes) {
    if (block_bytes > kLargestPooled) return false;
    std::lock_guard<std::mutex> lock(mutex_);
    int64_t& held = held_[static_cast<int>(context.device_type)];
    if (held + block_bytes > kPoolCap) return false;
    free_[{context, block_bytes}].push_back(data);
    held += block_bytes;
    return true;
  }

  int64_t held(DeviceType type) {
    std::lock_guard<std::mutex> lock(mutex_);
    return held_[static_cast<int>(type)];
  }

  void Release(DeviceType type) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [key, blocks] : free_) {
      if (key.first.device_type != type) continue;
      auto device = FindDevice(key.first);
      if (!device.ok()) continue;
      for (void* data : blocks) (*device)->Free(key.first.device_id, data, key.second);
      blocks.clear();
    }
    held_[static_cast<int>(type)] = 0;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<Context, int64_t>, std::vector<void*>> free_;
  int64_t held_[3] = {0, 0, 0};
};

Pool& ThePool() {
  static Pool* pool = new Pool;  // never destroyed: arrays of static duration give back to it
  return *pool;
}

}  // namespace

Storage::Storage(void* data, int64_t bytes, int64_t block_bytes, Context context,
                 std::shared_ptr<void> owner)
    : data_(data),
      bytes_(bytes),
      block_bytes_(block_bytes),
      context_(context),
      owner_(std::move(owner)) {}

Storage::~Storage() {
  if (block_bytes_ == 0 || ThePool().Give(context_, data_, block_bytes_)) return;
  auto device = FindDevice(context_);
  if (device.ok()) (*device)->Free(context_.device_id, data_, block_bytes_);
}

absl::StatusOr<std::shared_ptr<Storage>> Storage::Allocate(int64_t bytes, Context context) {
  return Take(bytes, context, /*zeros=*/false);
}

absl::StatusOr<std::shared_ptr<Storage>> Storage::AllocateZeros(int64_t bytes, Context context) {
  return Take(bytes, context, /*zeros=*/true);
}

absl::StatusOr<std::shared_ptr<Storage>> Storage::Take(int64_t bytes, Context context, bool zeros) {
  if (bytes < 0 || bytes > (int64_t{1} << 62)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot allocate ", bytes, " bytes"));
  }
  COOPER_ASSIGN_OR_RETURN(Device * device, FindDevice(context));
  const int64_t block_bytes = BlockBytes(bytes);
  void* data = ThePool().Take(context, block_bytes);
  const bool pooled = data != nullptr;
  if (!pooled) {
    COOPER_ASSIGN_OR_RETURN(data, device->Allocate(context.device_id, block_bytes));
  }
  std::shared_ptr<Storage> storage(new Storage(data, bytes, block_bytes, context, nullptr));
  if (zeros && (pooled || !device->AllocatesZeros(block_bytes))) {
    COOPER_RETURN_IF_ERROR(device->FillZero(data, context, bytes));
  }
  return storage;
}

std::shared_ptr<Storage> Storage::Wrap(void* data, int64_t bytes, Context context,
                                       std::shared_ptr<void> owner) {
  return std::shared_ptr<Storage>(new Storage(data, bytes, 0, context, std::move(owner)));
}

int64_t PooledBytes(DeviceType type) { return ThePool().held(type); }

void ReleasePool(DeviceType type) { ThePool().Release(type); }

}  // namespace cooper
