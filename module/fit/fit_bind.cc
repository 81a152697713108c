#include "module/fit/fit_bind.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Sets `req` to `wanted` unless it is kNull. Returns whether it changed.
bool Change(WriteReq wanted, WriteReq* req) {
  if (*req == wanted || *req == WriteReq::kNull) return false;
  *req = wanted;
  return true;
}

// Changes the gradient requests of parameters. Returns whether any changed. Gradients of data
// belong to one batch and keep their requests.
bool ChangeRequests(const BaseModule& module, WriteReq wanted, ModuleBindOptions* bind) {
  const std::vector<std::string>& data = module.data_names();
  if (bind->inputs_need_grad) {
    for (const std::string& name : data) bind->grad_reqs.emplace(name, bind->grad_req);
  }
  bool changed = Change(wanted, &bind->grad_req);
  for (auto& [name, req] : bind->grad_reqs) {
    if (std::find(data.begin(), data.end(), name) != data.end()) continue;
    changed = Change(wanted, &req) || changed;
  }
  return changed;
}

// If the module's default bucket is not the iterator's, takes the shapes that the iterator has for
// it: the data of this process may lack the largest bucket. Bind refuses a key that the iterator
// does not know.
void UseDefaultBucket(const BaseModule& module, const DataIter& train_data,
                      ModuleBindOptions* bind) {
  const std::optional<BucketKey> key = module.default_bucket_key();
  if (!key.has_value() || key == bind->bucket_key) return;
  absl::StatusOr<BucketShapes> shapes = train_data.bucket_shapes(*key);
  if (!shapes.ok()) return;
  bind->bucket_key = key;
  bind->data_shapes = std::move(shapes->data_shapes);
  bind->label_shapes = std::move(shapes->label_shapes);
}

}  // namespace

ModuleBindOptions BindOptionsForFit(const DataIter& train_data, const FitOptions& options) {
  return {.data_shapes = train_data.provide_data(),
          .label_shapes = train_data.provide_label(),
          .bucket_key = train_data.default_bucket_key(),
          .for_training = true,
          .force_rebind = options.force_rebind,
          .grad_req = options.accumulate_batches > 1 ? WriteReq::kAdd : options.grad_req,
          .seed = options.seed};
}

InitOptimizerOptions OptimizerOptionsForFit(const FitOptions& options) {
  InitOptimizerOptions optimizer = options.optimizer;
  optimizer.batches_per_update *= std::max(1, options.accumulate_batches);
  return optimizer;
}

InitParamsOptions ParamsOptionsForFit(const FitOptions& options) {
  InitParamsOptions params = options.params;
  if (!params.seed.has_value()) params.seed = options.seed;
  return params;
}

absl::Status BindForFit(BaseModule& module, const DataIter& train_data, const FitOptions& options,
                        bool added_up) {
  ModuleBindOptions bind = BindOptionsForFit(train_data, options);
  UseDefaultBucket(module, train_data, &bind);
  const bool adds = options.accumulate_batches > 1;
  if (!module.binded() || options.force_rebind || (!adds && !added_up)) return module.Bind(bind);
  const ModuleBindOptions* const bound = module.bind_options();
  if (bound == nullptr || !bound->for_training) {
    bind.force_rebind = !adds || module.grad_req() != WriteReq::kAdd;
    return module.Bind(bind);
  }
  ModuleBindOptions again = *bound;
  if (!ChangeRequests(module, bind.grad_req, &again)) return absl::OkStatus();
  again.force_rebind = true;
  again.seed = options.seed;
  return module.Bind(again);
}

}  // namespace cooper
