#include "module/kvstore/queued_copies.h"

#include <set>
#include <utility>

#include "ndarray/array/device.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

bool IsSame(const ArrayCopy& copy) { return copy.from.raw_data() == copy.to.raw_data(); }

bool IsQueued(const ArrayCopy& copy) {
  return !copy.from.is_null() && !copy.to.is_null() && !copy.from.context().is_cpu() &&
         !copy.to.context().is_cpu() && copy.from.shape() == copy.to.shape() &&
         copy.from.dtype() == copy.to.dtype();
}

}  // namespace

absl::Status CopyInQueues(absl::Span<const ArrayCopy> copies) {
  std::set<std::pair<Context, Context>> ways;
  for (const ArrayCopy& copy : copies) {
    if (IsQueued(copy) && !IsSame(copy)) ways.emplace(copy.from.context(), copy.to.context());
  }
  for (const auto& [from, to] : ways) {
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * source, GetQueue(from));
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * target, GetQueue(to));
    COOPER_RETURN_IF_ERROR(target->WaitFor(*source));
  }
  for (const ArrayCopy& copy : copies) {
    if (IsSame(copy)) continue;
    if (!IsQueued(copy)) {
      COOPER_RETURN_IF_ERROR(copy.to.CopyFrom(copy.from));
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * target, GetQueue(copy.to.context()));
    COOPER_RETURN_IF_ERROR(target->Copy(copy.to.raw_data(), copy.to.context(), copy.from.raw_data(),
                                        copy.from.context(), copy.from.size_bytes()));
  }
  for (const auto& [from, to] : ways) {
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * source, GetQueue(from));
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * target, GetQueue(to));
    COOPER_RETURN_IF_ERROR(source->WaitFor(*target));
  }
  return absl::OkStatus();
}

}  // namespace cooper
