#ifndef COOPER_IO_BATCH_DATA_BATCH_H_
#define COOPER_IO_BATCH_DATA_BATCH_H_

// What an iterator hands to a module for one step.

#include <cstdint>
#include <optional>
#include <vector>

#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// A batch shares the elements of its arrays with nobody who writes to them: it stays valid while
// the iterator goes on, is reset, or is destroyed.
struct DataBatch {
  std::vector<NDArray> data;   // in the order of provide_data
  std::vector<NDArray> label;  // in the order of provide_label

  // How many rows, the last ones unless the iterator says otherwise, do not belong to the epoch.
  int64_t pad = 0;
  // The id of each row's sample, stable over epochs and shuffling; -1 for a row without a sample.
  // Empty if the iterator has no ids.
  std::vector<int64_t> index;
  // The bucket, if the iterator has buckets.
  std::optional<BucketKey> bucket_key;
  // The descriptions of this batch. Empty if they are the iterator's. The first batch of a bucket
  // needs them: the bucket is bound by them.
  std::vector<DataDesc> provide_data;
  std::vector<DataDesc> provide_label;
  // How many time steps of each row are real, the rest being padding. Empty if rows are no
  // sequences.
  std::vector<int64_t> lengths;
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_DATA_BATCH_H_
