#ifndef COOPER_SYMBOL_RNN_VALID_LENGTH_H_
#define COOPER_SYMBOL_RNN_VALID_LENGTH_H_

// Helps cells to unroll sequences with padding: applies the operators SequenceMask, SequenceLast
// and SequenceReverse to the steps. `valid_length` is (batch_size,), of any dtype. MXNet:
// python/mxnet/gluon/rnn/rnn_cell.py.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/symbol_sequence.h"

namespace cooper {

// Returns the sequence with zeros in the padding of each row, merged unless `merge` is false.
absl::StatusOr<SymbolSequence> MaskSequence(int length, const SymbolSequence& sequence,
                                            const std::string& layout, const Symbol& valid_length,
                                            std::optional<bool> merge);

// Returns each row's last valid step among `steps`, each (batch_size, ...): (batch_size, ...). Rows
// without a valid step give their first step.
absl::StatusOr<Symbol> LastStep(const std::vector<Symbol>& steps, const Symbol& valid_length);

// Returns `merged` (length, batch_size, ...) with the valid steps of each row reversed and padding
// in place.
absl::StatusOr<Symbol> ReverseSequence(const Symbol& merged, const Symbol& valid_length);

// Exchanges axes 0 and 1, those of batch and time.
absl::StatusOr<Symbol> SwapBatchAndTime(const Symbol& data);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_VALID_LENGTH_H_
