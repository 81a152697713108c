#ifndef COOPER_SYMBOL_RNN_VALID_LENGTH_H_
#define COOPER_SYMBOL_RNN_VALID_LENGTH_H_

// What unrolling does with sequences that are shorter than the padded ones they come in: the
// operators SequenceMask, SequenceLast and SequenceReverse over the steps. `valid_length` is
// (batch_size,), of any dtype. MXNet: python/mxnet/gluon/rnn/rnn_cell.py.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/symbol_sequence.h"

namespace cooper {

// The sequence with zeros behind the end of each row, merged unless `merge` is false.
absl::StatusOr<SymbolSequence> MaskSequence(int length, const SymbolSequence& sequence,
                                            const std::string& layout, const Symbol& valid_length,
                                            std::optional<bool> merge);

// Of `steps`, each (batch_size, ...), the last one of each row: (batch_size, ...). The first one
// where a row has none.
absl::StatusOr<Symbol> LastStep(const std::vector<Symbol>& steps, const Symbol& valid_length);

// `merged` (length, batch_size, ...) with the steps of each row in reverse order, padding where it
// is.
absl::StatusOr<Symbol> ReverseSequence(const Symbol& merged, const Symbol& valid_length);

// Exchanges the axes 0 and 1: those of batch and time.
absl::StatusOr<Symbol> SwapBatchAndTime(const Symbol& data);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_VALID_LENGTH_H_
