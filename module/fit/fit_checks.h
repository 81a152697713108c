#ifndef COOPER_MODULE_FIT_FIT_CHECKS_H_
#define COOPER_MODULE_FIT_FIT_CHECKS_H_

// The checks that Fit makes during a training: whether names in its options are known, whether the
// ids in a batch are in the network's range, and whether computed values are finite.

#include <optional>

#include "absl/status/status.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_iter.h"
#include "module/fit/check_ids.h"
#include "module/interface/base_module.h"
#include "module/parameters/batch_transaction.h"

namespace cooper {

// Makes the checks of one training. Not thread-safe.
class FitChecks {
 public:
  // Owns none of the arguments, which must outlive it.
  FitChecks(BaseModule& module, const DataIter& train_data, const FitOptions& options);

  // Logs the names in lr_mult and wd_mult that no parameter has: they are misspelt, or belong to
  // buckets that are not bound yet.
  void WarnOfUnknownNames() const;
  // Logs how many training samples no batch of any epoch holds, and how many samples of eval_data
  // no batch of a pass holds, each with the reason. Logs nothing if there are none.
  void WarnOfUnusedSamples(const DataIter& train_data) const;
  // Call it at the end of the last epoch: logs how many samples roll over to an epoch that does not
  // come.
  static void WarnOfRolledOver(const DataIter& train_data);
  // Logs that accuracy, the default metric, means little if an output is that of a regression.
  void WarnOfDefaultMetric() const;
  // Call it before a batch is computed.
  absl::Status BeforeBatch();
  // Whether AfterBatch checks the ids of a batch; if so, call it before the update.
  bool reads_ids() const { return ids_.has_value(); }
  // Call it after a batch, with the status of its TrainStep. Returns that status if it is an error
  // which these checks do not explain. Otherwise returns kOutOfRange for an id that the network
  // does not have, or for a value that is not finite, with the node that computed it first. With
  // check_finite the module is rolled back to its state before the batch for both of these.
  absl::Status AfterBatch(const DataBatch& batch, const absl::Status& computed);
  // Call it at the end of an epoch, before a callback saves the module. Fails if a parameter is not
  // finite, and ends the checks of ids.
  absl::Status AfterEpoch();

 private:
  BaseModule& module_;
  const FitOptions& options_;
  std::optional<IdChecker> ids_;  // set during the first epoch
  BatchTransaction transaction_;  // of the current batch, with check_finite
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_FIT_CHECKS_H_
