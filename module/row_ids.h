#ifndef COOPER_MODULE_ROW_IDS_H_
#define COOPER_MODULE_ROW_IDS_H_

// Which sample each row of a prediction belongs to, and its rows in the order of the samples.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "io/data_batch.h"
#include "ndarray/ndarray.h"

namespace cooper {

// Adds the ids of a batch's rows but those of padding. False if the batch has none, or one of the
// outputs, which are without padding, has not a row of its first axis for each.
bool AppendRowIds(const DataBatch& batch, const std::vector<NDArray>& outputs,
                  std::vector<int64_t>* ids);

// Sorts ids, and with them the rows of all arrays, which have one for each. Rows of equal ids stay
// in their order.
absl::Status SortRowsById(std::vector<int64_t>* ids, std::vector<NDArray>* arrays);

}  // namespace cooper

#endif  // COOPER_MODULE_ROW_IDS_H_
