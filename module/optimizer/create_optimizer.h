#ifndef COOPER_MODULE_OPTIMIZER_CREATE_OPTIMIZER_H_
#define COOPER_MODULE_OPTIMIZER_CREATE_OPTIMIZER_H_

// Creates optimizers by name. Kinds are available if their target (sgd, adam, adagrad, layerwise,
// or all_optimizers) is linked; //module links sgd, its default.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "module/optimizer/optimizer.h"

namespace cooper {

// Creates an optimizer. `name` is MXNet's, in any case: "sgd", "Adam", ...; `kwargs` are the
// arguments of MXNet's constructor. Errors: kNotFound for an unknown name, with the known names,
// and for a kind that is not linked, with its target; kInvalidArgument for unknown arguments and
// bad values, including a learning rate that is negative, infinite or NaN.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view name, const Kwargs& kwargs = {},
    std::shared_ptr<LRScheduler> lr_scheduler = nullptr);

// The names of the linked kinds, in lower case and alphabetical order.
std::vector<std::string> OptimizerNames();

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_CREATE_OPTIMIZER_H_
