#ifndef COOPER_MODULE_FIT_FIT_BIND_H_
#define COOPER_MODULE_FIT_FIT_BIND_H_

// Binds a module for Fit, and binds it again if it was bound for another way of collecting
// gradients.

#include "absl/status/status.h"
#include "io/batch/data_iter.h"
#include "module/interface/base_module.h"

namespace cooper {

// Binds a module that is not bound, by BindOptionsForFit. Rebinds a bound module if its gradients
// are overwritten but this Fit has to accumulate them, or if `added_up` says that the last Fit made
// them accumulate and this one overwrites them. Only grad_req and grad_reqs change then; a request
// of kNull stays. Errors: those of Bind.
absl::Status BindForFit(BaseModule& module, const DataIter& train_data, const FitOptions& options,
                        bool added_up);

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_FIT_BIND_H_
