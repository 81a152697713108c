#include "executor/kernels/rnn/packed_chain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

constexpr int64_t kSteps = 4, kBatch = 5, kHidden = 40;

std::vector<float> RandomFloats(int64_t size, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.NextNormal()) / 2;
  return values;
}

RNNParam ParamOf(RNNMode mode) {
  RNNParam param;
  param.mode = mode;
  param.state_size = kHidden;
  param.num_layers = 1;
  param.bidirectional = true;
  return param;
}

// One direction of a layer, and the results of two ways to run it.
struct Layer {
  Layer(RNNMode mode, int direction, std::vector<float> sequence_lengths)
      : param(ParamOf(mode)),
        dims(param, {kSteps, kBatch, 1}),
        lengths(std::move(sequence_lengths)),
        row_order(RNNRows::ScratchSize(kSteps, kBatch)),
        rows(lengths.empty() ? RNNRows(kSteps, kBatch)
                             : RNNRows({lengths.data(), {kBatch}, DType::kFloat32}, kSteps, kBatch,
                                       row_order.data())),
        direction(direction),
        packed(PackedWeightSize(dims.recurrent, kHidden, kHidden)),
        bias(RandomFloats(dims.slot_row(), 2)),
        slots(RandomFloats(dims.rows() * dims.slot_row(), 3)),
        state(RandomFloats(kBatch * kHidden, 4)),
        state_cell(RandomFloats(kBatch * kHidden, 5)) {
    const std::vector<float> weight = RandomFloats(dims.recurrent * kHidden * kHidden, 1);
    PackRNNWeight(weight.data(), dims.recurrent, kHidden, kHidden, packed.data());
  }

  PackedStep Step() const {
    return {.mode = param.mode,
            .hidden = kHidden,
            .weight = packed.data(),
            .bias = bias.data(),
            .clip = CellClip<float>(param)};
  }

  struct Written {
    std::vector<float> output = std::vector<float>(kSteps * kBatch * 2 * kHidden, 77);
    std::vector<float> state, cell;  // by place
  };

  // Runs chains as the kernel does with lengths: states are updated in place.
  Written RunChains(int64_t cut) const {
    Written written{.state = state, .cell = state_cell};
    const PackedChain chain{.dims = dims,
                            .rows = rows,
                            .direction = direction,
                            .step = Step(),
                            .slots = slots.data(),
                            .state = written.state.data(),
                            .state_cell = written.cell.data(),
                            .cell = written.cell.data(),
                            .output = written.output.data() + direction * kHidden,
                            .last_state = written.state.data()};
    chain.Run(0, cut);
    chain.Run(cut, kBatch);
    return written;
  }

  // Runs the sequences one by one.
  Written RunOneByOne() const {
    Written written{.state = state, .cell = state_cell};
    for (int64_t place = 0; place < kBatch; ++place) {
      float* const h = &written.state[place * kHidden];
      float* const c = &written.cell[place * kHidden];
      for (int64_t s = 0; s < rows.length(place); ++s) {
        const int64_t t = direction == 0 ? s : rows.length(place) - 1 - s;
        const std::vector<float> h_prev(h, h + kHidden);
        PackedStepRow row{.h_prev = h_prev.data(),
                          .slots = &slots[(rows.begin(t) + place) * dims.slot_row()],
                          .h = h};
        if (param.mode == RNNMode::kLstm) row.c_prev = row.c = c;
        Step().Run({&row, 1}, 0, NumPackedPanels(kHidden));
        std::copy_n(h, kHidden,
                    &written.output[((t * kBatch + rows.row(place)) * 2 + direction) * kHidden]);
      }
    }
    return written;
  }

  RNNParam param;
  RNNDims dims;
  std::vector<float> lengths;
  std::vector<int64_t> row_order;
  RNNRows rows;
  int direction;
  std::vector<float> packed, bias, slots, state, state_cell;
};

TEST(PackedChainTest, HasTheBitsOfEachSequenceByItself) {
  const std::vector<std::vector<float>> all_lengths = {{}, {3, 0, 4, 1, 3}, {0, 0, 0, 0, 0}};
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const RNNMode mode : {RNNMode::kLstm, RNNMode::kGru}) {
      for (const int direction : {0, 1}) {
        for (const auto& lengths : all_lengths) {
          for (const int64_t cut : {0, 2}) {
            SCOPED_TRACE(absl::StrCat("threads ", threads, ", mode ", mode, ", direction ",
                                      direction, ", lengths ", lengths.size(), ", cut ", cut));
            const Layer layer(mode, direction, lengths);
            const Layer::Written chains = layer.RunChains(cut);
            const Layer::Written expected = layer.RunOneByOne();
            EXPECT_EQ(chains.output, expected.output);
            EXPECT_EQ(chains.state, expected.state);
            EXPECT_EQ(chains.cell, expected.cell);
          }
        }
      }
    }
  }
  SetNumThreads(0);
}

// Runs as the kernel does without lengths: only the output and the cell state are written.
TEST(PackedChainTest, LeavesTheFirstStates) {
  const Layer layer(RNNMode::kLstm, 0, {});
  const Layer::Written expected = layer.RunOneByOne();
  std::vector<float> output(expected.output.size(), 77), cell(kBatch * kHidden, NAN);
  PackedChain{.dims = layer.dims,
              .rows = layer.rows,
              .direction = 0,
              .step = layer.Step(),
              .slots = layer.slots.data(),
              .state = layer.state.data(),
              .state_cell = layer.state_cell.data(),
              .cell = cell.data(),
              .output = output.data(),
              .last_state = nullptr}
      .Run(0, kBatch);
  EXPECT_EQ(output, expected.output);
  EXPECT_EQ(cell, expected.cell);
}

}  // namespace
}  // namespace cooper
