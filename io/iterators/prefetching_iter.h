#ifndef COOPER_IO_ITERATORS_PREFETCHING_ITER_H_
#define COOPER_IO_ITERATORS_PREFETCHING_ITER_H_

// Makes batches ahead of time, on a thread per source; batches of several sources become one.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/data_iter.h"

namespace cooper {

struct PrefetchingIterOptions {
  // For each source, new names of its inputs; missing sources and names keep theirs.
  std::vector<std::map<std::string, std::string>> rename_data;
  std::vector<std::map<std::string, std::string>> rename_label;
  // Batches that wait, per source. At least 1.
  int depth = 2;
};

// The iterator itself is used by one thread at a time, like any other.
class PrefetchingIter : public DataIter {
 public:
  // kInvalidArgument if there is no source, or batch sizes or default bucket keys differ.
  static absl::StatusOr<std::unique_ptr<PrefetchingIter>> Create(
      std::vector<std::unique_ptr<DataIter>> iters, PrefetchingIterOptions options = {});
  ~PrefetchingIter() override;

  // Inputs and labels of all sources in order; bucket key, ids and lengths are passed on. An error
  // of a source is returned as it is, an exception as kInternal with what it says.
  // kFailedPrecondition if the sources' pads or keys differ, or if some have ended and others not.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  // Waits for the batches in the making, and drops what waits. The next epoch is the one that the
  // sources would begin without this iterator; of a source that keeps no state, the one that it
  // begins where it has been read ahead to. After an error of one of several sources there is no
  // batch (kFailedPrecondition) until another call has reset those that are left.
  absl::Status Reset() override;
  absl::Status HardReset() override;
  // Those of the first source.
  UnusedSamples unused_samples() const override;

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  std::optional<BucketKey> default_bucket_key() const override;
  std::vector<BucketKey> bucket_keys() const override { return bucket_keys_; }
  int64_t batch_size() const override { return batch_size_; }
  // Of the source whose input it is.
  std::optional<double> invalid_label(absl::string_view input) const override {
    const auto found = invalid_labels_.find(input);
    return found == invalid_labels_.end() ? std::nullopt : found->second;
  }

  // The place of the next batch that Next() returns, not of what has been made ahead.
  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 private:
  class Source;

  PrefetchingIter() = default;
  absl::Status ResetSources(bool hard);
  bool IsPartlyReset() const;
  // kFailedPrecondition if only some sources are in the next epoch.
  absl::Status CheckReset() const;

  std::vector<std::unique_ptr<Source>> sources_;
  // By source: whether it was reset by a call that failed for another one.
  std::vector<bool> is_reset_;
  bool is_hard_ = false;  // that call
  PrefetchingIterOptions options_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  std::map<std::string, std::optional<double>, std::less<>> invalid_labels_;
  std::optional<BucketKey> default_bucket_key_;
  std::vector<BucketKey> bucket_keys_;
  int64_t batch_size_ = 0;
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_PREFETCHING_ITER_H_
