#ifndef COOPER_IO_BATCH_DATA_ITER_H_
#define COOPER_IO_BATCH_DATA_ITER_H_

// The interface of iterators, which supply the batches of a training run, epoch by epoch.
//
//   COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, iter->Next());
//   while (batch) { ...; COOPER_ASSIGN_OR_RETURN(batch, iter->Next()); }
//   COOPER_RETURN_IF_ERROR(iter->Reset());

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_statistics.h"

namespace cooper {

// Counts the samples that come in no batch, over all parts of the data.
struct UnusedSamples {
  int64_t all = 0;          // number of samples
  int64_t never = 0;        // in no batch of any epoch
  int64_t this_epoch = 0;   // in no batch of the current epoch, including `never`
  int64_t rolled_over = 0;  // part of this_epoch that comes first in the next epoch
  // Whether the caller asked for incomplete batches to be dropped, by an option that is off by
  // default (NDArrayIter: last_batch_handle kDiscard). Predict then accepts that the unused samples
  // have no row.
  bool by_request = false;
  // The reason and the remedy: "1 that do not fill a batch of 3: last_batch_handle kPad serves
  // them".
  std::string why;
};

// The shapes of one bucket, to bind it before its first batch.
struct BucketShapes {
  BucketKey key;
  std::vector<DataDesc> data_shapes;
  std::vector<DataDesc> label_shapes;
};

// Supplies batches. Not thread-safe, unless a subclass documents otherwise. A new iterator is at
// the start of its first epoch.
class DataIter {
 public:
  virtual ~DataIter() = default;

  // Returns the next batch, or nullopt at the end of the epoch and at every further call until
  // Reset(). After an error the iterator is in the state before the call.
  virtual absl::StatusOr<std::optional<DataBatch>> Next() = 0;

  // Starts the next epoch from any position.
  virtual absl::Status Reset() = 0;

  // Return the descriptions to bind with; those of the default bucket if the iterator has buckets.
  virtual const std::vector<DataDesc>& provide_data() const = 0;
  virtual const std::vector<DataDesc>& provide_label() const = 0;

  // Returns the key of the largest bucket, if the iterator has buckets.
  virtual std::optional<BucketKey> default_bucket_key() const { return std::nullopt; }
  // Returns every key that a batch may carry, in rising order. Empty without buckets.
  virtual std::vector<BucketKey> bucket_keys() const { return {}; }

  // Returns the shapes to bind the bucket with. A bucket that the iterator was created with has
  // shapes even if no sample is in it: one of several processes binds it because the others have
  // such samples. kNotFound for any other key. The default implementation knows the default key.
  virtual absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) const;

  // Returns the number of rows of a batch.
  virtual int64_t batch_size() const = 0;

  // Returns the value that the iterator writes into the given input or label where a sample has no
  // value: in padding, or for a word that does not count. Fit's check of ids accepts it. The
  // default is MXNet's invalid_label; nullopt means that every value is the caller's.
  virtual std::optional<double> invalid_label(absl::string_view) const { return -1; }

  // SaveState returns a text (key_values.h) with the position of the iterator. LoadState moves an
  // iterator over the same data, created with the same options, to that position: it then gives the
  // same batches, bit for bit, in this and all later epochs. Errors, which leave the iterator
  // unchanged: kInvalidArgument if the state belongs to another iterator; kUnimplemented if the
  // iterator does not support states.
  virtual absl::StatusOr<std::string> SaveState() const;
  virtual absl::Status LoadState(absl::string_view state);

  // Resets for a separate pass over all samples, such as an evaluation: the epoch begins with the
  // first sample, regardless of samples that the last epoch left over or used in advance. The
  // default implementation, for iterators that do neither, calls Reset().
  virtual absl::Status HardReset() { return Reset(); }

  // Returns the counts of samples that are not served, so that users can be warned. Zeros for an
  // iterator that does not know its samples.
  virtual UnusedSamples unused_samples() const { return {}; }

  // Returns counts and times since the iterator was created, which Fit logs by epoch. Zeros for an
  // iterator that keeps none.
  virtual DataStatistics statistics() const { return {}; }
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_DATA_ITER_H_
