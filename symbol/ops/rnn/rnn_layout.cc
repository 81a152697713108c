#include "symbol/ops/rnn/rnn_layout.h"

#include "symbol/schema/extent_product.h"

namespace cooper {
namespace {

// Returns the columns of the i2h weight of `layer`.
int64_t LayerInputSize(const RNNParam& param, int64_t input_size, int layer) {
  return layer == 0 ? input_size : ExtentProduct(RNNNumDirections(param), RNNOutputSize(param));
}

int64_t WeightRows(const RNNParam& param) { return RNNNumGates(param.mode) * param.state_size; }

}  // namespace

int RNNNumGates(RNNMode mode) {
  switch (mode) {
    case RNNMode::kLstm:
      return 4;
    case RNNMode::kGru:
      return 3;
    default:
      return 1;
  }
}

int RNNNumSlots(RNNMode mode) { return mode == RNNMode::kGru ? 4 : RNNNumGates(mode); }

RNNWeightOffsets RNNOffsets(const RNNParam& param, int64_t input_size, int layer, int direction) {
  const int64_t rows = WeightRows(param);
  const int directions = RNNNumDirections(param);
  RNNWeightOffsets result;
  int64_t offset = 0;
  for (int l = 0; l < param.num_layers; ++l) {
    const int64_t columns = LayerInputSize(param, input_size, l);
    for (int d = 0; d < directions; ++d) {
      if (l == layer && d == direction) {
        result.input_size = columns;
        result.i2h_weight = offset;
        result.h2h_weight = offset + rows * columns;
      }
      offset += rows * (columns + param.state_size);
    }
  }
  result.i2h_bias = offset + (layer * directions + direction) * 2 * rows;
  result.h2h_bias = result.i2h_bias + rows;
  return result;
}

int64_t RNNParameterSize(const RNNParam& param, int64_t input_size) {
  const int64_t rows = WeightRows(param);
  const int64_t output_size = RNNOutputSize(param);
  int64_t size = 0;
  for (int layer = 0; layer < param.num_layers; ++layer) {
    const int64_t columns =
        ExtentSum(LayerInputSize(param, input_size, layer), ExtentSum(output_size, 2));
    size = ExtentSum(size, ExtentProduct(rows, columns));
    if (param.projection_size.has_value())
      size = ExtentSum(size, ExtentProduct(output_size, param.state_size));
  }
  return ExtentProduct(size, RNNNumDirections(param));
}

std::optional<int64_t> RNNInputSize(const RNNParam& param, int64_t parameter_size) {
  const int64_t step = RNNNumDirections(param) * WeightRows(param);
  const int64_t rest = parameter_size - RNNParameterSize(param, 0);
  if (rest < 0 || rest % step != 0) return std::nullopt;
  return rest / step;
}

RNNReserve::RNNReserve(const RNNParam& param, int64_t num_steps, int64_t batch_size)
    : num_directions_(RNNNumDirections(param)) {
  // Each block begins at a multiple of 16 elements, at least 64 bytes. Sizes that overflow become
  // the greatest int64, which exceeds any array.
  const auto aligned = [](int64_t elements) { return ExtentSum(elements, 15) / 16 * 16; };
  const int64_t state = ExtentProduct(ExtentProduct(num_steps, batch_size), param.state_size);
  slots_size_ = aligned(ExtentProduct(RNNNumSlots(param.mode), state));
  cells_size_ = RNNHasCell(param) ? aligned(state) : 0;
  const int64_t outputs = ExtentProduct(num_directions_, state);
  output_size_ = aligned(outputs);
  // An element has at least four bytes.
  mask_size_ = param.p > 0 ? aligned(ExtentSum(outputs, 3) / 4) : 0;
  const int64_t chains = param.num_layers * num_directions_, between = param.num_layers - 1;
  cells_begin_ = ExtentProduct(chains, slots_size_);
  outputs_begin_ = ExtentSum(cells_begin_, ExtentProduct(chains, cells_size_));
  masks_begin_ = ExtentSum(outputs_begin_, ExtentProduct(between, output_size_));
  size_ = ExtentSum(masks_begin_, ExtentProduct(between, mask_size_));
}

}  // namespace cooper
