#include "module/lr_scheduler/create_lr_scheduler.h"

#include "absl/strings/match.h"
#include "module/lr_scheduler/lr_scheduler_registry.h"

namespace cooper {

absl::StatusOr<std::unique_ptr<LRScheduler>> CreateLRScheduler(absl::string_view kind,
                                                               const Kwargs& kwargs) {
  constexpr absl::string_view kSuffix = "scheduler";
  const bool is_class = absl::EndsWithIgnoreCase(kind, kSuffix);
  return LRSchedulers().Create(is_class ? kind.substr(0, kind.size() - kSuffix.size()) : kind,
                               kwargs);
}

}  // namespace cooper
