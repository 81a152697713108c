#ifndef COOPER_MODULE_OPTIONS_PARAMETER_OPTIONS_H_
#define COOPER_MODULE_OPTIONS_PARAMETER_OPTIONS_H_

// How parameters get their values and how they are trained: the options of InitParams, SetParams
// and InitOptimizer of every module, which pass them to their Parameters and Learner.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "module/initializer/initializer.h"
#include "module/kvstore/kvstore.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "module/optimizer/optimizer.h"
#include "ndarray/array/array_map.h"
#include "ndarray/files/params_entry.h"

namespace cooper {

// Parameters and auxiliary states by name.
struct ModuleParams {
  ArrayMap args;
  ArrayMap auxs;
  // How files store them, where their names are "arg:NAME" and "aux:NAME".
  ParamsFormat format = {};
};

// Returns Uniform in [-0.01, 0.01), MXNet's default for training.
std::shared_ptr<const Initializer> DefaultInitializer();

// Options of BaseModule::InitParams.
struct InitParamsOptions {
  // Fills the parameters that arg_params and aux_params lack. Null: they are not filled.
  std::shared_ptr<const Initializer> initializer = DefaultInitializer();
  // Seed of the initializer. Absent: FitOptions::seed where Fit initializes, else DefaultSeed()
  // (ndarray/base/default_seed.h).
  std::optional<uint64_t> seed;
  // Given values take precedence over the initializer. Absent: the initializer fills everything.
  std::optional<ArrayMap> arg_params;
  std::optional<ArrayMap> aux_params;
  bool allow_missing = false;  // given maps may lack parameters
  bool force_init = false;     // initialize again
  bool allow_extra = false;    // given maps may have other names; no effect on InitParams
};

// Options of BaseModule::SetParams; see InitParamsOptions.
struct SetParamsOptions {
  bool allow_missing = false;
  bool force_init = true;
  bool allow_extra = false;
};

// The divisor of gradients, which losses sum over a batch, in an update.
enum class GradientNormalization {
  kBatchSize,  // the batch size of Bind or Reshape, as in MXNet
  // The rows of the batches since the last update that hold samples, including those that fill up
  // the last batch: rows with an id (DataBatch::index) or, for an iterator without ids, all but
  // DataBatch::pad. For buckets with different batch sizes, and smaller last batches.
  kSamples,
  // The time steps of these rows without padding (DataBatch::lengths): each token counts the same.
  kTokens,
};

// Options of BaseModule::InitOptimizer. The first member is the optimizer, so that
// FitOptions{.optimizer = "adam"} works.
struct InitOptimizerOptions {
  // An optimizer's name; optimizer_params below has its arguments, as in MXNet ("sgd",
  // {{"learning_rate", 0.1}}).
  std::string optimizer = "sgd";
  // The type of store that sums gradients over devices and processes (CreateKVStore). With one
  // device no store of a type for one process is created. "": nothing is summed, and each device
  // trains its own parameters.
  std::string kvstore = "local";
  // A store to use instead; the type is then ignored. The store starts from the module's values,
  // whatever it was used for before. Several modules may use it at a time if their parameters have
  // different names (kAlreadyExists otherwise). Two things then follow. The training state of each
  // module includes the whole store (CaptureTraining). On GPUs, sums that began during the backward
  // pass of one module (overlap_gradients) are repeated if another module's backward pass comes
  // before the update, as in a SequentialModule.
  std::shared_ptr<KVStore> kvstore_instance;
  // Whether the store updates the parameters. False: it only sums the gradients, and each device
  // updates its own parameters. (MXNet decides by type and number of elements.)
  bool update_on_kvstore = true;
  // How a store of type "device" or "dist_device_sync" sums gradients on several GPUs: in buckets
  // of this many bytes, and whether the sums may begin while the backward pass still runs. With
  // overlap, changes to gradients between Backward and Update (other than by Backward) have no
  // effect; set it to false to change them. Only sums of one process that leave the gradients
  // unchanged (update_on_kvstore) begin early.
  int64_t gradient_bucket_bytes = KVBuckets().bytes;
  bool overlap_gradients = true;
  // The optimizer's arguments. Unless they contain rescale_grad, it follows from `normalization`.
  // If they are empty and there is no schedule, the learning rate is MXNet's default of 0.01,
  // whatever the optimizer's own default is.
  Kwargs optimizer_params;
  // Schedule for an optimizer created by name.
  std::shared_ptr<LRScheduler> lr_scheduler;
  // An optimizer to use instead; its name and the two options above are then ignored. Its
  // rescale_grad is used unchanged; if it does not match `normalization`, a warning is logged, as
  // in MXNet.
  std::shared_ptr<Optimizer> instance;
  // Multipliers of learning rate and weight decay by parameter name. They take precedence over
  // those of the symbol's attributes (`__lr_mult__`). Fit logs a warning about names that no
  // parameter has.
  std::map<std::string, double> lr_mult;
  std::map<std::string, double> wd_mult;
  // > 0: each update scales gradients down so that their norm, over all parameters of the update
  // and after rescale_grad, is at most this. The store then only sums (update_on_kvstore is
  // ignored).
  double clip_global_norm = 0;
  // Batches whose gradients are added up for one update. With kBatchSize, rescale_grad is divided
  // by it.
  int batches_per_update = 1;
  // With kSamples or kTokens each update divides rescale_grad (1 unless given) by the number of
  // samples or tokens; InitOptimizer fails with kUnimplemented for several processes. The number is
  // that of the last Backward of any module that shares the parameters (shared_module): update each
  // module before the next one's Backward, unless gradients accumulate.
  GradientNormalization normalization = GradientNormalization::kBatchSize;
  bool force_init = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_PARAMETER_OPTIONS_H_
