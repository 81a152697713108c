#include "executor/kernels/rnn/rnn_dims.h"

#include "symbol/ops/rnn/rnn_layout.h"

namespace cooper {

RNNDims::RNNDims(const RNNParam& param, const Shape& data)
    : num_steps(data[0]),
      batch(data[1]),
      input(data[2]),
      hidden(param.state_size),
      layers(static_cast<int>(param.num_layers)),
      directions(RNNNumDirections(param)),
      slots(RNNNumSlots(param.mode)),
      recurrent(RNNNumGates(param.mode)) {}

absl::Span<const InputProduct> InputProducts(RNNMode mode) {
  static constexpr InputProduct kOne[] = {{0, 0, 1}};
  static constexpr InputProduct kLstm[] = {{0, 0, 4}};
  static constexpr InputProduct kGru[] = {{0, 0, 2}, {3, 2, 1}};
  switch (mode) {
    case RNNMode::kLstm:
      return kLstm;
    case RNNMode::kGru:
      return kGru;
    default:
      return kOne;
  }
}

}  // namespace cooper
