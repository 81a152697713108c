#ifndef COOPER_TESTS_CONFORMANCE_RNN_CELLS_H_
#define COOPER_TESTS_CONFORMANCE_RNN_CELLS_H_

// Creates the recurrent cells of the cases and checks the names and outputs of their unrolled
// graphs, their states, and their packed and unpacked weights.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// Creates the cell that a case names ("lstm", "fused_gru_l2_bi0"), with the prefixes of the case's
// arguments and the sizes in its argument shapes and state_info.
absl::StatusOr<RNNCellPtr> MakeCell(const Json& json);

// Returns the stack of plain cells of a fused cell. kInvalidArgument for other cells.
absl::StatusOr<RNNCellPtr> Unfused(const RNNCellPtr& cell);

// Unrolls the cell as the case specifies; returns the outputs of the steps, or the whole sequence,
// and then the states.
absl::StatusOr<Symbol> UnrollCell(BaseRNNCell& cell, const Json& json);

absl::Status CheckStateInfo(const BaseRNNCell& cell, const Json& json);

// Checks that unpacking `packed` gives `unpacked` and that packing reverses it.
absl::Status CheckPacking(const BaseRNNCell& cell, const Arrays& packed, const Arrays& unpacked);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_RNN_CELLS_H_
