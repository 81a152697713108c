#ifndef COOPER_IO_ITERATORS_PREFETCHING_ITER_H_
#define COOPER_IO_ITERATORS_PREFETCHING_ITER_H_

// Prepares batches in advance, on one thread per source; merges the batches of several sources.

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
#include "io/batch/data_statistics.h"

namespace cooper {

class PrefetchSource;

// Options of PrefetchingIter. Each waiting batch has arrays of its own: up to `depth` batches of
// each source are in memory besides the one in use.
struct PrefetchingIterOptions {
  // For each source, new names of its inputs; missing sources and names keep theirs.
  std::vector<std::map<std::string, std::string>> rename_data;
  std::vector<std::map<std::string, std::string>> rename_label;
  // The number of batches that wait, per source. At least 1.
  int depth = 2;
  // If positive: no batch is begun while the arrays of the waiting ones of its source have this
  // many bytes.
  int64_t max_bytes = 0;
};

// Reads ahead on its sources. One thread at a time may use the iterator, as any other.
class PrefetchingIter : public DataIter {
 public:
  // Takes the sources over and starts their threads. kInvalidArgument if there is no source, or
  // batch sizes or default bucket keys differ.
  static absl::StatusOr<std::unique_ptr<PrefetchingIter>> Create(
      std::vector<std::unique_ptr<DataIter>> iters, PrefetchingIterOptions options = {});
  ~PrefetchingIter() override;

  // Returns the inputs and labels of all sources in order, with bucket key, ids and lengths. A
  // source's error is returned as it is, an exception as kInternal with its message.
  // kFailedPrecondition if the sources' pads or keys differ, or if only some of them have ended.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  // Waits for batches in preparation and drops the waiting ones. The next epoch is the one that the
  // sources would begin without prefetching; a source that supports no state begins it from the
  // position that it has been read ahead to. If one of several sources fails, Next returns
  // kFailedPrecondition until another call has reset the remaining ones.
  absl::Status Reset() override;
  absl::Status HardReset() override;
  // Returns the counts of the first source.
  UnusedSamples unused_samples() const override;

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  std::optional<BucketKey> default_bucket_key() const override;
  // Returns the keys of the first source.
  std::vector<BucketKey> bucket_keys() const override;
  // Returns the inputs and labels of all sources. Waits for a batch in preparation.
  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) const override;
  int64_t batch_size() const override { return batch_size_; }
  // Returns the value of the source that has this input.
  std::optional<double> invalid_label(absl::string_view input) const override {
    const auto found = invalid_labels_.find(input);
    return found == invalid_labels_.end() ? std::nullopt : found->second;
  }

  // Returns the counts of the first source without the batches prepared in advance, and this
  // iterator's batches and wait_seconds.
  DataStatistics statistics() const override;

  // Saves the position of the next batch that Next() returns, not that of the batches prepared in
  // advance. It consists of a state of each source and a number of batches behind it: a large
  // state, such as that of a BucketStream, is not saved anew for each batch. LoadState reads these
  // batches again.
  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 private:
  PrefetchingIter() = default;
  absl::Status ResetSources(bool hard);
  bool IsPartlyReset() const;
  // Returns kFailedPrecondition if only some sources are in the next epoch.
  absl::Status CheckReset() const;

  std::vector<std::unique_ptr<PrefetchSource>> sources_;
  // By source: whether a call that failed for another source has reset it.
  std::vector<bool> is_reset_;
  bool is_hard_ = false;  // whether that call was HardReset
  PrefetchingIterOptions options_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  std::map<std::string, std::optional<double>, std::less<>> invalid_labels_;
  std::optional<BucketKey> default_bucket_key_;
  int64_t batch_size_ = 0;
  int64_t batches_ = 0;      // that Next returned
  double wait_seconds_ = 0;  // within Next
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_PREFETCHING_ITER_H_
