#ifndef COOPER_TESTS_CONFORMANCE_RNN_CELLS_H_
#define COOPER_TESTS_CONFORMANCE_RNN_CELLS_H_

// The recurrent cells of the cases, and what each must do: the names and the outputs of its
// unrolled graph, its states, its packed and unpacked weights.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// The kind of cell that a case names ("lstm", "fused_gru_l2_bi0"), with the prefixes that its
// arguments have, and with sizes as its argument shapes and state_info say.
absl::StatusOr<RNNCellPtr> MakeCell(const Json& json);

// The stack of plain cells of a fused one. kInvalidArgument for other cells.
absl::StatusOr<RNNCellPtr> Unfused(const RNNCellPtr& cell);

// Unrolls as the case says; the outputs of the steps or of the whole sequence, then the states.
absl::StatusOr<Symbol> UnrollCell(BaseRNNCell& cell, const Json& json);

absl::Status CheckStateInfo(const BaseRNNCell& cell, const Json& json);

// Unpacking gives the arrays of that case, and packing them the packed ones.
absl::Status CheckPacking(const BaseRNNCell& cell, const Arrays& packed, const Arrays& unpacked);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_RNN_CELLS_H_
