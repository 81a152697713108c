#ifndef COOPER_MODULE_NETWORK_BATCH_FEED_H_
#define COOPER_MODULE_NETWORK_BATCH_FEED_H_

// Matches the arrays of a batch with the inputs that a network is bound with. Batches that describe
// themselves are matched by name; others by position, as are those that know none of the names.

#include <vector>

#include "absl/status/status.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "module/devices/data_parallel_executor_group.h"

namespace cooper {

// kInvalidArgument, naming it, if the batch lacks an input among `data` or `label`, or if one of
// its arrays contradicts its description. A batch may have no labels at all. Shapes may differ from
// those of `data` and `label`.
absl::Status CheckBatch(const std::vector<DataDesc>& data, const std::vector<DataDesc>& label,
                        const DataBatch& batch);

// The functions below require that CheckBatch accepts the batch.

// Returns whether the batch's arrays have these shapes.
bool HasShapes(const std::vector<DataDesc>& data, const std::vector<DataDesc>& label,
               const DataBatch& batch);
// Changes the shapes to those of the batch. Without labels in the batch, the batch axis of `label`
// follows that of the data.
void TakeShapes(const DataBatch& batch, std::vector<DataDesc>& data, std::vector<DataDesc>& label);
// Gives the batch's arrays to the inputs of `bound`, zeros where it has none.
absl::Status FeedBatch(const DataBatch& batch, DataParallelExecutorGroup& bound);

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_BATCH_FEED_H_
