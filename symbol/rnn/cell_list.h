#ifndef COOPER_SYMBOL_RNN_CELL_LIST_H_
#define COOPER_SYMBOL_RNN_CELL_LIST_H_

// What cells that are made of other cells have in common.

#include <vector>

#include "ndarray/status_macros.h"
#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// The states of all cells, in order.
inline std::vector<StateInfo> StateInfoOf(const std::vector<RNNCellPtr>& cells) {
  std::vector<StateInfo> result;
  for (const RNNCellPtr& cell : cells) {
    for (StateInfo& info : cell->state_info()) result.push_back(std::move(info));
  }
  return result;
}

inline absl::StatusOr<std::vector<Symbol>> BeginStateOf(const std::vector<RNNCellPtr>& cells,
                                                        const StateFn& make) {
  std::vector<Symbol> result;
  for (const RNNCellPtr& cell : cells) {
    COOPER_ASSIGN_OR_RETURN(std::vector<Symbol> states, cell->BeginState(make));
    for (Symbol& state : states) result.push_back(std::move(state));
  }
  return result;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_CELL_LIST_H_
