#ifndef COOPER_IO_BATCH_DATA_STATISTICS_H_
#define COOPER_IO_BATCH_DATA_STATISTICS_H_

// Counts and times of an iterator's work, for logs and reports (DataIter::statistics).

#include <cstdint>
#include <string>

namespace cooper {

// Counts since an iterator was created, over all epochs. Members that an iterator does not count
// are zero. A plain value: a copy of the iterator's numbers at the time of the call.
struct DataStatistics {
  int64_t samples = 0;  // served, each piece of a split one
  int64_t batches = 0;
  int64_t padding_batches = 0;  // batches without a sample, for other parts' steps
  int64_t padding_rows = 0;     // in all batches
  int64_t discarded = 0;        // read, but too long
  int64_t truncated = 0;
  int64_t split = 0;
  int64_t left_over = 0;      // read, but in no batch: last_batch kDiscard, Reset within an epoch
  int64_t tokens = 0;         // of served samples, in the sequences that are data
  int64_t padded_tokens = 0;  // with padding, that of padding rows included
  int64_t pool_samples = 0;   // held now
  int64_t pool_bytes = 0;     // held now
  // Seconds, by activity. A PrefetchingIter spends all but wait_seconds beside the training.
  double read_seconds = 0;    // reading and placing samples
  double decode_seconds = 0;  // decoding samples, if the source tells it from reading
  double peer_seconds = 0;    // waiting for other parts
  double batch_seconds = 0;   // drawing and padding
  double wait_seconds = 0;    // the time that the training waits: within Next

  // Returns the part of padded_tokens that is padding, in [0, 1].
  double padding() const;
  // Returns the counts since `before`, earlier statistics of the same iterator. pool_samples and
  // pool_bytes are the present values.
  DataStatistics Since(const DataStatistics& before) const;
  // Return one line each without its end: the counts that are not zero, and the times.
  std::string CountsToString() const;
  std::string TimesToString() const;
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_DATA_STATISTICS_H_
