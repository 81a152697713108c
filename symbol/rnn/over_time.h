#ifndef COOPER_SYMBOL_RNN_OVER_TIME_H_
#define COOPER_SYMBOL_RNN_OVER_TIME_H_

// Reduces a padded sequence to one vector that does not depend on the padding: the input of a
// classifier of texts or series. A mean or a maximum over all steps of a bucket would change with
// the bucket's length.
//
//   const Unrolled unrolled = Unroll(cell, length, embed,
//                                    {.merge_outputs = true, .valid_length = lengths});
//   const Symbol mean = MeanOverTime(unrolled.outputs.merged(), lengths);
//
// Other reductions have operators: SequenceLast, and softmax with use_length for attention.

#include <string>

#include "symbol/graph/symbol.h"

namespace cooper {

struct OverTimeOptions {
  std::string layout = "NTC";  // (batch_size, length, n), or "TNC": (length, batch_size, n)
  std::string name;            // of the result's node; empty: an automatic one
};

// Returns the mean of each row's first `valid_length` steps: (batch_size, n). `valid_length` is
// (batch_size,), of the data's dtype. A row without valid steps, such as a padding row, uses its
// first step. The gradient of padding is 0. The symbol keeps errors, as symbol/op's functions do.
Symbol MeanOverTime(const Symbol& data, const Symbol& valid_length,
                    const OverTimeOptions& options = {});

// Returns the maximum of each of the n features over each row's first `valid_length` steps:
// (batch_size, n). Lengths, rows without valid steps and errors are treated as in MeanOverTime.
// Padding counts as the least float32, which is minus infinity in float16.
Symbol MaxOverTime(const Symbol& data, const Symbol& valid_length,
                   const OverTimeOptions& options = {});

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_OVER_TIME_H_
