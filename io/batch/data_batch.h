#ifndef COOPER_IO_BATCH_DATA_BATCH_H_
#define COOPER_IO_BATCH_DATA_BATCH_H_

// The batch that an iterator passes to a module for one step.

#include <cstdint>
#include <optional>
#include <vector>

#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// A batch of rows. Nothing writes to the elements of its arrays, so it stays valid while the
// iterator advances, is reset, or is destroyed.
struct DataBatch {
  std::vector<NDArray> data;   // in the order of provide_data
  std::vector<NDArray> label;  // in the order of provide_label

  // The number of rows that do not belong to the epoch: the last rows, unless the iterator
  // documents others.
  int64_t pad = 0;
  // The sample id of each row, stable over epochs and shuffling; -1 for a row without a sample.
  // Empty if the iterator has no ids.
  std::vector<int64_t> index;
  // The key of the batch's bucket, if the iterator has buckets.
  std::optional<BucketKey> bucket_key;
  // The descriptions of this batch; empty if they equal the iterator's. The first batch of a bucket
  // needs them, since the module binds the bucket with them.
  std::vector<DataDesc> provide_data;
  std::vector<DataDesc> provide_label;
  // The number of real time steps of each row, without padding. Empty if rows are not sequences.
  std::vector<int64_t> lengths;
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_DATA_BATCH_H_
