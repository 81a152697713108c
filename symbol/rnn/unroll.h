#ifndef COOPER_SYMBOL_RNN_UNROLL_H_
#define COOPER_SYMBOL_RNN_UNROLL_H_

// Cells in networks that keep their first error, as the functions of symbol/op do: what a cell
// refuses is told by whatever takes the finished network.
//
//   LSTMCell cell(200, {.prefix = "lstm_"});
//   const Symbol all = Unroll(cell, length, embed, {.merge_outputs = true}).outputs.merged();

#include <vector>

#include "symbol/graph/symbol.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/symbol_sequence.h"

namespace cooper {

// cell.Unroll. After an error, or for inputs that have one, outputs are what `options` ask for
// (merged, unless merge_outputs is false) and states as many as the cell has, all with that error.
Unrolled Unroll(BaseRNNCell& cell, int length, const SymbolSequence& inputs,
                const UnrollOptions& options = {});

// cell.Step, likewise.
StepResult Step(BaseRNNCell& cell, const Symbol& input, const std::vector<Symbol>& states);

// cell.BeginState, likewise.
std::vector<Symbol> BeginState(BaseRNNCell& cell, const StateFn& make = ZeroStates());

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_UNROLL_H_
