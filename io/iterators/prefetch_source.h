#ifndef COOPER_IO_ITERATORS_PREFETCH_SOURCE_H_
#define COOPER_IO_ITERATORS_PREFETCH_SOURCE_H_

// An iterator and a thread that reads ahead on it. PrefetchingIter has one for each of its sources.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "io/batch/data_statistics.h"

namespace cooper {

// A position of an iterator: `batches` batches after the position that `state` describes.
struct PrefetchPosition {
  std::string state;
  int64_t batches = 0;
};

// One reader may call it at a time. An exception of the iterator is returned as kInternal with its
// message.
class PrefetchSource {
 public:
  using MaybeBatch = absl::StatusOr<std::optional<DataBatch>>;

  // Starts the thread, which computes with as many threads as the caller (NumThreads). It keeps at
  // most `depth` batches ready, at least 1, and begins none while the arrays of the ready ones have
  // max_bytes bytes, unless that is 0. Throws std::system_error if there is no thread.
  PrefetchSource(std::unique_ptr<DataIter> iter, size_t depth, int64_t max_bytes);
  // Waits for a batch in preparation.
  ~PrefetchSource();

  // Waits for the next batch and returns it without removing it.
  const MaybeBatch& Front();

  // Removes and returns the next batch, or the error in its place: the one that Front returned.
  // After an error the thread tries again. Must not be called at the end of the epoch, whose entry
  // stays first until Reset.
  MaybeBatch Pop();

  // Records that the reader has seen the end of the epoch, which is the next entry. Some iterators
  // change there, and begin the next epoch with the samples that are left.
  void PassEnd();

  // Returns the reader's position.
  absl::StatusOr<PrefetchPosition> SaveState();
  // Moves to a position and drops the batches that were read ahead. Reads the batches between the
  // position and its state again.
  absl::Status LoadState(const PrefetchPosition& position);

  // Resets from the reader's position, however far the thread has read ahead, if the iterator
  // supports states.
  absl::Status Reset(bool hard);

  // Call the iterator's functions of these names while the thread is idle.
  UnusedSamples unused_samples();
  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key);

  // Returns the iterator's keys after the last reset or LoadState, which may change them.
  std::vector<BucketKey> bucket_keys();

  // Returns the iterator's statistics at the reader's position, without the batches ahead of it.
  // Batches that LoadState and Reset read again are counted again.
  DataStatistics statistics();

  // Return the iterator's descriptions from before the thread started.
  const std::vector<DataDesc>& provide_data() const { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const { return provide_label_; }

 private:
  // A state that the iterator had, which several positions share since it may be large.
  using SavedState = std::shared_ptr<const absl::StatusOr<std::string>>;

  // The iterator's position relative to its last saved state.
  struct Progress {
    SavedState state;     // null: none was saved since the iterator was moved
    int64_t batches = 0;  // since then
    int64_t bytes = 0;    // of their arrays
  };

  struct Entry {
    MaybeBatch batch;
    int64_t bytes = 0;
    DataStatistics statistics;  // after it
    // The position of a reader whose next entry is this one: before the batch, or after the end of
    // the epoch once the reader has seen it.
    Progress at;
  };

  // Saves the iterator's state if none is saved, or if the batches since the last one are large
  // enough to make the time for another one small. Which batches that are depends only on their
  // bytes, so that equal runs save equal positions.
  void SaveIfDue();
  // Moves the iterator to a position; an error does not move it.
  absl::Status MoveTo(const SavedState& state, int64_t batches);
  // Reads and discards `batches` batches.
  absl::Status Pass(int64_t batches);
  // Calls `change` on the iterator while the thread is idle. On success drops the entries.
  absl::Status Restart(const std::function<absl::Status(DataIter&)>& change);
  bool MayReadAhead() const;
  void WaitUntilIdle(std::unique_lock<std::mutex>& lock);
  void Run();

  const std::unique_ptr<DataIter> iter_;
  const size_t depth_;
  const int64_t max_bytes_;
  const std::vector<DataDesc> provide_data_, provide_label_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  Progress progress_;  // the iterator's; used by the thread, or while it is idle
  DataStatistics statistics_;
  std::vector<BucketKey> bucket_keys_;
  bool busy_ = false;    // the thread is in the iterator
  bool paused_ = false;  // the thread may not enter it
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_PREFETCH_SOURCE_H_
