#ifndef COOPER_SYMBOL_RNN_GATE_WEIGHTS_H_
#define COOPER_SYMBOL_RNN_GATE_WEIGHTS_H_

// Pieces of packed weights, for UnpackWeights and PackWeights of cells.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"
#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// Removes the array from `args` and returns it. kNotFound, with the name, if there is none.
absl::StatusOr<NDArray> TakeArray(ArrayMap& args, const std::string& name);

// Copies of `parts` equal runs of rows. kInvalidArgument, naming `name`, unless each run has
// `rows` rows.
absl::StatusOr<std::vector<NDArray>> SplitRows(const NDArray& array, const std::string& name,
                                               int parts, int64_t rows);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_GATE_WEIGHTS_H_
