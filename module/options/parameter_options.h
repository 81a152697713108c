#ifndef COOPER_MODULE_OPTIONS_PARAMETER_OPTIONS_H_
#define COOPER_MODULE_OPTIONS_PARAMETER_OPTIONS_H_

// How parameters get their values, and how they learn: what InitParams, SetParams and InitOptimizer
// of every module take, and pass on to their ParameterStore.

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

namespace cooper {

// Parameters and auxiliary states by name.
struct ModuleParams {
  ArrayMap args;
  ArrayMap auxs;
};

// Uniform in [-0.01, 0.01), MXNet's default for training.
std::shared_ptr<const Initializer> DefaultInitializer();

struct InitParamsOptions {
  // Fills what arg_params and aux_params do not give. Null: nothing is filled.
  std::shared_ptr<const Initializer> initializer = DefaultInitializer();
  // Of the initializer's random numbers. Absent: FitOptions::seed where Fit initializes, else
  // DefaultSeed() (ndarray/base/default_seed.h).
  std::optional<uint64_t> seed;
  // Given values win over the initializer. Absent: the initializer fills everything.
  std::optional<ArrayMap> arg_params;
  std::optional<ArrayMap> aux_params;
  bool allow_missing = false;  // given maps may lack parameters
  bool force_init = false;     // initialize again
  bool allow_extra = false;    // given maps may have other names; InitParams ignores them anyway
};

struct SetParamsOptions {
  bool allow_missing = false;
  bool force_init = true;
  bool allow_extra = false;
};

// What gradients, which losses sum over a batch, are divided by in an update.
enum class GradientNormalization {
  kBatchSize,  // MXNet's way: the batch size of Bind or Reshape, whatever the batches are
  // Rows of the batches since the last update that hold samples, those that fill the last batch
  // included: rows with an id (DataBatch::index) or, of an iterator without ids, all but
  // DataBatch::pad. For buckets with batch sizes of their own, and smaller last batches.
  kSamples,
  // Their time steps without padding (DataBatch::lengths): each token counts the same.
  kTokens,
};

// The first member is the optimizer, so that FitOptions{.optimizer = "adam"} is what it says.
struct InitOptimizerOptions {
  // A name and, below, the constructor's arguments, as in MXNet ("sgd", {{"learning_rate", 0.1}}).
  std::string optimizer = "sgd";
  // Where gradients are summed over devices and processes (CreateKVStore). Of the types within one
  // process none is made for one device. "": nothing is summed, and each device's parameters go
  // their own way.
  std::string kvstore = "local";
  // Or a store that is ready; then the type is ignored. It begins with the module's values,
  // whatever it was used for before; several modules may have it at a time if their parameters have
  // different names (kAlreadyExists). The training state of each then has all of the store
  // (CaptureTraining), and on GPUs sums that one's backward pass has begun (overlap_gradients) are
  // made again where another's comes before its update, as in a SequentialModule.
  std::shared_ptr<KVStore> kvstore_instance;
  // Whether the store updates the parameters, or only sums the gradients, and each device updates
  // its own. (MXNet decides by type and number of elements.)
  bool update_on_kvstore = true;
  // How a store of type "device" or "dist_device_sync" sums gradients on several GPUs: in buckets
  // of so many bytes; and whether their sums may begin while the backward pass still runs. Then
  // gradients that are changed between Backward and Update (other than by Backward) would not
  // count: set it to false to change them. Only sums that leave the gradients as they are
  // (update_on_kvstore), of one process, begin so early.
  int64_t gradient_bucket_bytes = KVBuckets().bytes;
  bool overlap_gradients = true;
  // The optimizer's arguments. Unless rescale_grad is among them, it is as `normalization` says.
  // Without any, and without a schedule, the learning rate is MXNet's default of 0.01, whatever the
  // optimizer's own is.
  Kwargs optimizer_params;
  // For an optimizer made by name.
  std::shared_ptr<LRScheduler> lr_scheduler;
  // Or an optimizer that is ready; then its name and the two above are ignored. Its rescale_grad
  // counts as it is: one that is not as `normalization` says is warned of in the log, as in MXNet.
  std::shared_ptr<Optimizer> instance;
  // Multipliers of rate and decay by parameter name, beside those of the symbol's attributes
  // (`__lr_mult__`), over which they win. Fit warns in the log of names that no parameter has.
  std::map<std::string, double> lr_mult;
  std::map<std::string, double> wd_mult;
  // > 0: in each update, gradients are scaled down so that their norm, over all parameters of the
  // update and after rescale_grad, is at most this. The store then only sums (update_on_kvstore
  // does not count).
  double clip_global_norm = 0;
  // Batches whose gradients are added up for one update: of kBatchSize, rescale_grad is divided by
  // it.
  int batches_per_update = 1;
  // Other than kBatchSize, each update multiplies rescale_grad (1 unless it is given) by 1 / what
  // is counted; for one process. Of modules that share parameters (shared_module), the last one's
  // Backward counts: each has to be updated before the next, unless gradients are added up.
  GradientNormalization normalization = GradientNormalization::kBatchSize;
  bool force_init = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_PARAMETER_OPTIONS_H_
