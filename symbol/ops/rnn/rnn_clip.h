#ifndef COOPER_SYMBOL_OPS_RNN_RNN_CLIP_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_CLIP_H_

// The check of the clipping parameters of an lstm, shared by the shape rules of RNN, _rnn_layer and
// _prepared_rnn.

#include "absl/status/status.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Fails with kInvalidArgument unless lstm_state_clip_min and lstm_state_clip_max are both absent,
// or both set on an lstm, in order. Kernels read the second if the first is set.
absl::Status CheckRNNClip(const RNNParam& param);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_CLIP_H_
