#ifndef COOPER_SYMBOL_RNN_GATE_WEIGHTS_H_
#define COOPER_SYMBOL_RNN_GATE_WEIGHTS_H_

// Helpers for UnpackWeights and PackWeights of cells, which convert between one array for all
// gates, as the network uses it, and one array per gate, as initializers and other tools expect.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"
#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// Removes the array from `args` and returns it. Fails with kNotFound, with the name, if it is
// missing.
absl::StatusOr<NDArray> ExtractArray(ArrayMap& args, const std::string& name);

// Returns copies of `parts` equal ranges of rows. Fails with kInvalidArgument, naming `name`,
// unless each range has `rows` rows.
absl::StatusOr<std::vector<NDArray>> SplitRows(const NDArray& array, const std::string& name,
                                               int parts, int64_t rows);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_GATE_WEIGHTS_H_
