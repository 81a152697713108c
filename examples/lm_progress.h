#ifndef COOPER_EXAMPLES_LM_PROGRESS_H_
#define COOPER_EXAMPLES_LM_PROGRESS_H_

// What a training run of the language model shows: a progress line while it runs, and a table by
// bucket at its end. The numbers of each epoch go to a file of JSON, one object a line.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "examples/lm_report.h"
#include "io/batch/bucket_key.h"
#include "module/bucketing/bucketing_module.h"
#include "module/callback/callback.h"

namespace cooper {

class LmProgress {
 public:
  struct Options {
    int num_epoch = 1;
    int64_t batches_per_epoch = 0;
    int64_t batch_size = 0;
    int64_t disp_batches = 50;  // between two lines where the output is no terminal
    std::optional<double> perplexity_floor;
    std::string json_path;               // empty: no file
    std::string report_path;             // of the page (lm_report.h); empty: none
    std::vector<std::string> arguments;  // to be shown there
  };

  explicit LmProgress(Options options);

  // Keeps the epochs that an earlier run has finished and put into the file of JSON, for the file
  // and the page; without a file there are none. The run goes on after `begin_batch` batches of
  // epoch `begin_epoch`, which counts from 0.
  absl::Status Resume(int begin_epoch, int64_t begin_batch);

  // Counts a batch and shows the line. For FitOptions::batch_end_callbacks.
  bool OnBatch(const BatchEndParam& param);
  // Shows lines of the caller's. The time since the last batch is not counted.
  void ShowBetween(const std::string& lines);
  // Ends the epoch's line. `perplexity` is that of the training batches.
  void OnTrainEnd(int epoch, double perplexity);
  // Adds the validation to the epoch and writes the file of JSON and the page. An epoch of which
  // no batch was left is not written: the run that trained it has. After an error the next epoch
  // writes this one too.
  absl::Status OnEpochEnd(int epoch, std::optional<double> valid_perplexity,
                          const BucketingModule& model);

  // A line per bucket and one with the totals, and the memory of all buckets together; says so if
  // there was no batch.
  std::string Table(const BucketingModule& model) const;

 private:
  struct Bucket {
    int64_t batches = 0;
    int64_t real_tokens = 0;
    int64_t padded_tokens = 0;
    double seconds = 0;
  };
  using Clock = std::chrono::steady_clock;

  void Show(const std::string& line, bool whole);
  // What the page shows.
  LmRun Run(const BucketingModule& model) const;

  const Options options_;
  const bool terminal_;
  Clock::time_point last_;
  double seconds_ = 0;
  int64_t batches_ = 0;                        // of this run
  std::map<BucketKey, Bucket> buckets_;        // of this run
  std::map<BucketKey, Bucket> epoch_buckets_;  // of this epoch
  Bucket epoch_;                               // likewise, all buckets together
  double train_perplexity_ = 0;
  std::vector<std::string> json_lines_;  // those of an earlier run first
  std::vector<LmEpoch> epochs_;          // likewise
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_LM_PROGRESS_H_
