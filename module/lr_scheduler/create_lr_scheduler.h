#ifndef COOPER_MODULE_LR_SCHEDULER_CREATE_LR_SCHEDULER_H_
#define COOPER_MODULE_LR_SCHEDULER_CREATE_LR_SCHEDULER_H_

// Creates schedules by name.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/lr_scheduler.h"

namespace cooper {

// Creates a schedule. `kind` is "factor", "multifactor", "poly" or "cosine", or MXNet's class name
// ("FactorScheduler"); `kwargs` are the arguments of MXNet's constructor. Errors: kNotFound for
// another kind; kInvalidArgument for arguments that are unknown, missing or out of range.
absl::StatusOr<std::unique_ptr<LRScheduler>> CreateLRScheduler(absl::string_view kind,
                                                               const Kwargs& kwargs);

}  // namespace cooper

#endif  // COOPER_MODULE_LR_SCHEDULER_CREATE_LR_SCHEDULER_H_
