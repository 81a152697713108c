#ifndef COOPER_TOOLS_LM_TRAIN_LM_PROGRESS_H_
#define COOPER_TOOLS_LM_TRAIN_LM_PROGRESS_H_

// Reports on a training run of the language model: a progress line during the run, a table by
// bucket at its end, and a file with one JSON object per epoch.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_statistics.h"
#include "module/bucketing/bucketing_module.h"
#include "module/callback/callback.h"

namespace cooper {

class LmProgress {
 public:
  struct Options {
    int num_epoch = 1;
    int64_t batches_per_epoch = 0;  // 0: not known
    int64_t batch_size = 0;
    int64_t disp_batches = 50;  // between two lines where the output is not a terminal
    std::optional<double> perplexity_floor;
    std::string json_path;               // empty: no file
    std::vector<std::string> arguments;  // of the command line, for the file
  };

  explicit LmProgress(Options options);

  // Reads the epochs that an earlier run has written to the JSON file, so that the file keeps
  // them; does nothing without a file. The run continues after `begin_batch` batches of
  // epoch `begin_epoch`, which counts from 0.
  absl::Status Resume(int begin_epoch, int64_t begin_batch);

  // Counts a batch and updates the progress line. For FitOptions::batch_end_callbacks.
  bool OnBatch(const BatchEndParam& param);
  // Prints lines of the caller. The time since the last batch is not counted.
  void PrintAbove(const std::string& lines);
  // Ends the epoch's progress line. `perplexity` is that of the training batches.
  void OnTrainEnd(int epoch, double perplexity);
  // Adds the validation to the epoch and writes the JSON file. `data` are the statistics of the
  // training data since the run began. Skips an epoch without batches in this run that an earlier
  // run has written. After an error the next epoch writes this one too.
  absl::Status OnEpochEnd(int epoch, std::optional<double> valid_perplexity,
                          const BucketingModule& model, const DataStatistics& data);

  // Returns a line per bucket and one with the totals, and the memory of all buckets together; says
  // so if there was no batch.
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

  const Options options_;
  const bool terminal_;
  Clock::time_point last_;
  double seconds_ = 0;
  int64_t batches_ = 0;                        // of this run
  std::map<BucketKey, Bucket> buckets_;        // of this run
  std::map<BucketKey, Bucket> epoch_buckets_;  // of this epoch
  Bucket epoch_;                               // the same for all buckets together
  double train_perplexity_ = 0;
  DataStatistics data_;                  // at the end of the last epoch
  std::vector<std::string> json_lines_;  // those of an earlier run first
  int last_epoch_ = 0;                   // the number of the last one of them, from 1
};

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_LM_PROGRESS_H_
