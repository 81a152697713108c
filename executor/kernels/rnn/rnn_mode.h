#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_MODE_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_MODE_H_

// Dispatches from the kind of a recurrent cell to kernels that are compiled for it. For .cu files.
//
// Modes are template arguments of the kernels, because slots in registers need constant indices.

#include <type_traits>

#include "absl/status/status.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Calls fn(mode), with the mode as an std::integral_constant, and returns its status. fn is
// compiled for each of the four modes.
//
// Errors: those of fn; kInternal for a value that is no mode.
template <typename Fn>
absl::Status DispatchRNNMode(RNNMode mode, Fn&& fn) {
  switch (mode) {
    case RNNMode::kRnnRelu:
      return fn(std::integral_constant<RNNMode, RNNMode::kRnnRelu>());
    case RNNMode::kRnnTanh:
      return fn(std::integral_constant<RNNMode, RNNMode::kRnnTanh>());
    case RNNMode::kLstm:
      return fn(std::integral_constant<RNNMode, RNNMode::kLstm>());
    case RNNMode::kGru:
      return fn(std::integral_constant<RNNMode, RNNMode::kGru>());
  }
  return absl::InternalError("no such mode");
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_MODE_H_
