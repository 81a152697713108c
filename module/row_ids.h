#ifndef COOPER_MODULE_ROW_IDS_H_
#define COOPER_MODULE_ROW_IDS_H_

// The rows of a prediction in the order of the samples that they belong to.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/ndarray.h"

namespace cooper {

// Sorts ids, and with them the rows of all arrays, which have one for each. Rows of equal ids stay
// in their order.
absl::Status SortRowsById(std::vector<int64_t>* ids, std::vector<NDArray>* arrays);

}  // namespace cooper

#endif  // COOPER_MODULE_ROW_IDS_H_
