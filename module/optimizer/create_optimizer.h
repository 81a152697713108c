#ifndef COOPER_MODULE_OPTIMIZER_CREATE_OPTIMIZER_H_
#define COOPER_MODULE_OPTIMIZER_CREATE_OPTIMIZER_H_

// Optimizers by name: those whose targets (sgd, adam, adagrad, layerwise, or all_optimizers) are
// linked. //module brings sgd's, which is its default.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "module/optimizer/optimizer.h"

namespace cooper {

// `name` is MXNet's, in any case: "sgd", "Adam", ...; `kwargs` are the arguments of MXNet's
// constructor. kNotFound, with the names there are, for another name, or with the target for one
// that is not linked; kInvalidArgument for unknown arguments and bad values, a learning rate that
// is negative, infinite or NaN among them.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view name, const Kwargs& kwargs = {},
    std::shared_ptr<LRScheduler> lr_scheduler = nullptr);

// In lower case and alphabetical order.
std::vector<std::string> OptimizerNames();

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_CREATE_OPTIMIZER_H_
