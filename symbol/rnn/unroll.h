#ifndef COOPER_SYMBOL_RNN_UNROLL_H_
#define COOPER_SYMBOL_RNN_UNROLL_H_

// Calls cells in networks that keep their first error, as the functions of symbol/op do: a cell's
// error is reported by the function that takes the finished network.
//
//   LSTMCell cell(200, {.prefix = "lstm_"});
//   const Symbol all = Unroll(cell, length, embed, {.merge_outputs = true}).outputs.merged();

#include <vector>

#include "symbol/graph/symbol.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/symbol_sequence.h"

namespace cooper {

// Calls cell.Unroll. On an error, or for inputs with one, outputs have the form that `options`
// request (merged, unless merge_outputs is false), there are as many states as the cell has, and
// all keep that error. Resets the cell, as cell.Unroll does.
Unrolled Unroll(BaseRNNCell& cell, int length, const SymbolSequence& inputs,
                const UnrollOptions& options = {});

// Calls cell.Step and keeps errors in the same way.
StepResult Step(BaseRNNCell& cell, const Symbol& input, const std::vector<Symbol>& states);

// Calls cell.BeginState and keeps errors in the same way.
std::vector<Symbol> BeginState(BaseRNNCell& cell, const StateFn& make = ZeroStates());

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_UNROLL_H_
