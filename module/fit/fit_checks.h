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

namespace cooper {

class FitChecks {
 public:
  // None is owned.
  FitChecks(BaseModule& module, const DataIter& train_data, const FitOptions& options);

  // Logs the names in lr_mult and wd_mult that no parameter has so far: misspelt, or those of
  // buckets that come later.
  void WarnOfUnknownNames() const;
  // Logs how many samples no batch of any epoch holds, and of the validation no batch of one pass,
  // and why, if there are some.
  void WarnOfUnusedSamples(const DataIter& train_data) const;
  // At the end of the last epoch: logs how many samples would come in the next one.
  static void WarnOfRolledOver(const DataIter& train_data);
  // Logs that accuracy, the default metric, means little for an output that is a regression.
  void WarnOfDefaultMetric() const;
  // Before a batch is computed.
  absl::Status BeforeBatch();
  // Whether AfterBatch looks at a batch's ids, and is to be called before the update.
  bool reads_ids() const { return ids_.has_value(); }
  // After it was, with the status of its TrainStep. The error is that one, or names an id that the
  // network does not have, or what is not finite and where it was made; of the latter two the
  // module is then, with check_finite, as it was before the batch.
  absl::Status AfterBatch(const DataBatch& batch, const absl::Status& computed);
  // At the end of an epoch, before anybody saves it.
  absl::Status AfterEpoch();

 private:
  BaseModule& module_;
  const FitOptions& options_;
  std::optional<IdChecker> ids_;  // in the first epoch
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_FIT_CHECKS_H_
