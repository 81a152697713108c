#ifndef COOPER_IO_BATCH_DATA_ITER_H_
#define COOPER_IO_BATCH_DATA_ITER_H_

// The source of batches of a training run, epoch by epoch.
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

namespace cooper {

// Samples that come in no batch, of all parts of the data where there are several.
struct UnusedSamples {
  int64_t all = 0;          // samples that there are
  int64_t never = 0;        // of them: in no batch of any epoch
  int64_t this_epoch = 0;   // in no batch of the present epoch, those of `never` among them
  int64_t rolled_over = 0;  // of this_epoch: they come first in the next one
  // Whether the caller has asked, by an option that does not do so by default, that they be left
  // out. Predict then takes the rest for all.
  bool by_request = false;
  // Why, and what to do: "1 that do not fill a batch of 3: last_batch_handle kPad serves them".
  std::string why;
};

// Not thread-safe, unless a kind says so. A new iterator stands at the start of its first epoch.
class DataIter {
 public:
  virtual ~DataIter() = default;

  // The next batch, or nullopt at the end of the epoch, and again until Reset(). After an error
  // the iterator is as before the call.
  virtual absl::StatusOr<std::optional<DataBatch>> Next() = 0;

  // Starts the next epoch, wherever the iterator stands in this one.
  virtual absl::Status Reset() = 0;

  // The descriptions to bind with; for an iterator with buckets, those of its default bucket.
  virtual const std::vector<DataDesc>& provide_data() const = 0;
  virtual const std::vector<DataDesc>& provide_label() const = 0;

  // The key of the largest bucket, if the iterator has buckets.
  virtual std::optional<BucketKey> default_bucket_key() const { return std::nullopt; }
  // Every key that a batch may carry, in rising order. Empty without buckets.
  virtual std::vector<BucketKey> bucket_keys() const { return {}; }

  // Rows of a batch.
  virtual int64_t batch_size() const = 0;

  // What this kind writes into the input or label of that name where a sample has no value: behind
  // its end, or for a word that does not count. Fit's check of ids lets it pass. By default MXNet's
  // invalid_label; nullopt: this kind writes nothing of its own, and every value is the caller's.
  virtual std::optional<double> invalid_label(absl::string_view) const { return -1; }

  // A text (see key_values.h) that says where the iterator stands. LoadState puts an iterator over
  // the same data, made with the same options, there: it then gives the same batches, bit for bit,
  // in this and all later epochs. kInvalidArgument if the state is not one of such an iterator,
  // which stays as it was; kUnimplemented if the kind keeps no state.
  virtual absl::StatusOr<std::string> SaveState() const;
  virtual absl::Status LoadState(absl::string_view state);

  // Reset for a pass of its own, over all samples, such as an evaluation: the epoch begins with the
  // first sample, whatever the last one left over or took ahead. Kinds without either just reset.
  virtual absl::Status HardReset() { return Reset(); }

  // What of the data does not come, so that nobody misses it silently. Of a kind that has no whole
  // to serve, or does not know: nothing.
  virtual UnusedSamples unused_samples() const { return {}; }
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_DATA_ITER_H_
