#ifndef COOPER_SYMBOL_RNN_OVER_TIME_H_
#define COOPER_SYMBOL_RNN_OVER_TIME_H_

// One vector of a padded sequence, whatever the padding is: what a classifier of texts or series
// takes. A mean or a maximum over all steps of a bucket would change with its length.
//
//   const Unrolled unrolled = Unroll(cell, length, embed,
//                                    {.merge_outputs = true, .valid_length = lengths});
//   const Symbol mean = MeanOverTime(unrolled.outputs.merged(), lengths);
//
// The others have operators: SequenceLast, and softmax with use_length for attention.

#include <string>

#include "symbol/graph/symbol.h"

namespace cooper {

struct OverTimeOptions {
  std::string layout = "NTC";  // (batch_size, length, n), or "TNC": (length, batch_size, n)
  std::string name;            // of the result's node; empty: an automatic one
};

// The mean of each row's first `valid_length` steps: (batch_size, n). `valid_length` is
// (batch_size,), of the data's dtype. A row without a step, as rows of padding are, has its first
// one. The gradient of the other steps is 0. Errors are kept by the symbol, as those of symbol/op's
// functions are.
Symbol MeanOverTime(const Symbol& data, const Symbol& valid_length,
                    const OverTimeOptions& options = {});

// The greatest value of each of the n features in these steps, likewise.
Symbol MaxOverTime(const Symbol& data, const Symbol& valid_length,
                   const OverTimeOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_OVER_TIME_H_
