#ifndef COOPER_MODULE_FIT_FIT_BIND_H_
#define COOPER_MODULE_FIT_FIT_BIND_H_

// How Fit binds: a module that is not bound yet, and one that is bound for another way of
// collecting gradients.

#include "absl/status/status.h"
#include "io/batch/data_iter.h"
#include "module/interface/base_module.h"

namespace cooper {

// Binds by BindOptionsForFit where that has not been done. A module that is bound is bound again
// where gradients would be written that are to be added up (accumulate_batches), or, if `added_up`,
// where the last Fit made them add up and they are to be written: as it was bound, with grad_req
// and grad_reqs changed. A gradient that is not asked for (kNull) stays so.
absl::Status BindForFit(BaseModule& module, const DataIter& train_data, const FitOptions& options,
                        bool added_up);

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_FIT_BIND_H_
