#include "ndarray/array/queue_of.h"

#include <map>
#include <memory>
#include <mutex>

#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<DeviceQueue*> GetQueue(Context context) {
  COOPER_ASSIGN_OR_RETURN(Device * device, FindDevice(context));
  static auto* mutex = new std::mutex;
  // Never destroyed: arrays of static duration may use the queues, and the driver may be unloaded
  // first.
  static auto* queues = new std::map<Context, std::unique_ptr<DeviceQueue>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<DeviceQueue>& queue = (*queues)[context];
  if (queue == nullptr) {
    COOPER_ASSIGN_OR_RETURN(queue, device->MakeQueue(context.device_id));
  }
  return queue.get();
}

}  // namespace cooper
