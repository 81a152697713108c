#include "module/kvstore/collective.h"

#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/kvstore/copy_collective.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

CollectiveFactory& Preferred() {
  static CollectiveFactory factory = nullptr;
  return factory;
}

// Logs why copies are used. With CPUs among the devices that needs no reason.
void LogOnce(const std::vector<Context>& contexts, const std::string& text) {
  for (const Context& context : contexts) {
    if (context.is_cpu()) return;
  }
  static auto* mutex = new std::mutex;
  static auto* logged = new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (logged->insert(text).second) LOG(WARNING) << text;
}

}  // namespace

absl::Status Collective::AllReduceSum(absl::Span<const NDArray> arrays,
                                      absl::Span<const NDArray> sums,
                                      absl::Span<DeviceQueue* const> queues) {
  const size_t devices = contexts_.size();
  if (arrays.size() != devices || sums.size() != devices || queues.size() != devices) {
    return absl::InvalidArgumentError(absl::StrCat("sum over ", devices, " devices: got ",
                                                   arrays.size(), " arrays, ", sums.size(),
                                                   " sums, ", queues.size(), " queues"));
  }
  return CheckAndSum(arrays, sums, queues);
}

absl::Status Collective::ReduceSum(absl::Span<const NDArray> arrays, const NDArray& sum,
                                   absl::Span<DeviceQueue* const> queues) {
  if (!can_reduce()) {
    return absl::UnimplementedError(absl::StrCat("a sum for one device is not made by ", name()));
  }
  const size_t devices = contexts_.size();
  if (arrays.size() != devices || queues.size() != devices) {
    return absl::InvalidArgumentError(absl::StrCat("sum over ", devices, " devices: got ",
                                                   arrays.size(), " arrays, ", queues.size(),
                                                   " queues"));
  }
  return CheckAndSum(arrays, {&sum, 1}, queues);
}

absl::Status Collective::CheckAndSum(absl::Span<const NDArray> arrays,
                                     absl::Span<const NDArray> sums,
                                     absl::Span<DeviceQueue* const> queues) {
  for (size_t i = 0; i < contexts_.size(); ++i) {
    for (const NDArray* array : {&arrays[i], i < sums.size() ? &sums[i] : &arrays[i]}) {
      if (!array->is_null() && array->shape() == arrays[0].shape() &&
          array->dtype() == arrays[0].dtype() && array->context() == contexts_[i] &&
          IsFloating(array->dtype())) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "sum over devices: got ", array->ToString(), ", expected floats on ",
          contexts_[i].ToString(), ", like ", arrays[0].ToString(), " of the first device"));
    }
  }
  if (arrays[0].size() == 0) return absl::OkStatus();
  return Sum(arrays, sums, queues);
}

absl::StatusOr<std::unique_ptr<Collective>> MakeCollective(const std::vector<Context>& contexts,
                                                           CollectiveWorld* world) {
  const std::set<Context> distinct(contexts.begin(), contexts.end());
  if (contexts.empty() || distinct.size() != contexts.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sum over ", contexts.size(), " devices, of which ", distinct.size(),
                     " differ: expected one at least, and none twice"));
  }
  if (Preferred() != nullptr) {
    auto made = Preferred()(contexts, world);
    if (made.ok()) return made;
    LogOnce(contexts, absl::StrCat("kvstore: gradients are added by copies between devices, since ",
                                   made.status().message()));
  }
  return CopyCollective::Create(contexts, world);
}

bool RegisterCollective(CollectiveFactory factory) {
  Preferred() = factory;
  return true;
}

}  // namespace cooper
