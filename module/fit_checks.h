#ifndef COOPER_MODULE_FIT_CHECKS_H_
#define COOPER_MODULE_FIT_CHECKS_H_

// What Fit looks at beside the call itself: whether names in its options are known, whether a batch
// has all that it needs, and whether what came of it are numbers.

#include <cstdint>

#include "absl/status/status.h"
#include "io/data_batch.h"
#include "io/data_iter.h"
#include "module/base_module.h"

namespace cooper {

class FitChecks {
 public:
  // Neither is owned.
  FitChecks(BaseModule& module, const FitOptions& options) : module_(module), options_(options) {}

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
  // After it was, and before the update. The error names what is not finite, and where it was made;
  // the module is then as it was before the batch.
  absl::Status AfterBatch(const DataBatch& batch);
  // At the end of an epoch, before anybody saves it.
  absl::Status AfterEpoch() const;

 private:
  BaseModule& module_;
  const FitOptions& options_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_CHECKS_H_
