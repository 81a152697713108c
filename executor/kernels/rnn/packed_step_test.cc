#include "executor/kernels/rnn/packed_step.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rnn/rnn_layout.h"

namespace cooper {
namespace {

constexpr int64_t kSlots = 4;

std::vector<float> RandomFloats(int64_t size, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.NextNormal()) / 2;
  return values;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Random inputs, states and weights of one step of a recurrent cell for `rows` sequences.
struct Batch {
  Batch(RNNMode mode, int64_t hidden, int64_t rows)
      : mode(mode),
        hidden(hidden),
        rows(rows),
        gates(RNNNumGates(mode)),
        weight(RandomFloats(gates * hidden * hidden, 1)),
        packed(PackedWeightSize(gates, hidden, hidden), NAN),
        bias(RandomFloats(kSlots * hidden, 2)),
        h_prev(RandomFloats(rows * hidden, 3)),
        c_prev(RandomFloats(rows * hidden, 4)),
        slots(RandomFloats(rows * kSlots * hidden, 5)),
        h(rows * hidden, NAN),
        c(rows * hidden, NAN) {
    PackRNNWeight(weight.data(), gates, hidden, hidden, packed.data());
    // gru's slot nh is not written.
    if (mode != RNNMode::kGru) return;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < hidden; ++j) slots[(i * kSlots + 2) * hidden + j] = NAN;
    }
  }

  void Run(int64_t from, int64_t to, int64_t first, int64_t end) {
    RNNParam param;
    param.mode = mode;
    std::vector<PackedStepRow> pointers;
    for (int64_t i = from; i < to; ++i) {
      PackedStepRow row{
          .h_prev = &h_prev[i * hidden], .slots = &slots[i * kSlots * hidden], .h = &h[i * hidden]};
      if (mode == RNNMode::kLstm) {
        row.c_prev = &c_prev[i * hidden];
        row.c = &c[i * hidden];
      }
      pointers.push_back(row);
    }
    PackedStep{.mode = mode,
               .hidden = hidden,
               .weight = packed.data(),
               .bias = bias.data(),
               .clip = CellClip<float>(param)}
        .Run(pointers, first, end);
  }
  void Run() { Run(0, rows, 0, NumPackedPanels(hidden)); }

  // Compares the results with the cells' formulas.
  void ExpectRight() const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < hidden; ++j) {
        double sum[kSlots] = {};  // the recurrent product
        for (int g = 0; g < gates; ++g) {
          for (int64_t k = 0; k < hidden; ++k) {
            sum[g] +=
                static_cast<double>(weight[(g * hidden + j) * hidden + k]) * h_prev[i * hidden + k];
          }
        }
        const auto of_input = [&](int slot) {
          return static_cast<double>(slots[(i * kSlots + slot) * hidden + j]) +
                 bias[slot * hidden + j];
        };
        double expected = 0;
        if (mode == RNNMode::kGru) {
          const double r = Sigmoid(sum[0] + of_input(0)), z = Sigmoid(sum[1] + of_input(1));
          const double n = std::tanh(of_input(3) + r * (sum[2] + bias[2 * hidden + j]));
          expected = (1 - z) * n + z * h_prev[i * hidden + j];
        } else {
          const double cell = Sigmoid(sum[1] + of_input(1)) * c_prev[i * hidden + j] +
                              Sigmoid(sum[0] + of_input(0)) * std::tanh(sum[2] + of_input(2));
          ASSERT_NEAR(c[i * hidden + j], cell, 4e-6) << i << ", " << j;
          expected = Sigmoid(sum[3] + of_input(3)) * std::tanh(cell);
        }
        ASSERT_NEAR(h[i * hidden + j], expected, 4e-6) << i << ", " << j;
      }
    }
  }

  RNNMode mode;
  int64_t hidden, rows;
  int gates;
  std::vector<float> weight, packed, bias, h_prev, c_prev, slots, h, c;
};

TEST(PackedStepTest, IsProductAndCell) {
  ForEachCpuLevel([] {
    for (RNNMode mode : {RNNMode::kLstm, RNNMode::kGru}) {
      for (int64_t hidden : {1, 5, 16, 17, 40, 100}) {
        for (int64_t rows = 1; rows <= 14; ++rows) {
          SCOPED_TRACE(absl::StrCat("mode ", mode, ", hidden ", hidden, ", rows ", rows));
          Batch batch(mode, hidden, rows);
          batch.Run();
          batch.ExpectRight();
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

// Results do not depend on which rows and panels are computed together, because threads share them
// dynamically.
TEST(PackedStepTest, PartsHaveTheBitsOfTheWhole) {
  ForEachCpuLevel([] {
    for (RNNMode mode : {RNNMode::kLstm, RNNMode::kGru}) {
      Batch whole(mode, 72, 13), parts(mode, 72, 13);
      whole.Run();
      for (int64_t i = 0; i < 13; i += 3) {
        for (int64_t panel = 0; panel < 5; panel += 2) {
          parts.Run(i, std::min<int64_t>(i + 3, 13), panel, std::min<int64_t>(panel + 2, 5));
        }
      }
      EXPECT_EQ(parts.h, whole.h);
      if (mode == RNNMode::kLstm) {
        EXPECT_EQ(parts.c, whole.c);
      }
    }
  });
}

TEST(PackedStepTest, TheCellStateMayBeOverwritten) {
  Batch apart(RNNMode::kLstm, 40, 5), in_place(RNNMode::kLstm, 40, 5);
  apart.Run();
  in_place.c = in_place.c_prev;
  std::swap(in_place.c, in_place.c_prev);
  std::vector<PackedStepRow> rows;
  for (int64_t i = 0; i < 5; ++i) {
    float* const c = &in_place.c_prev[i * 40];
    rows.push_back({.h_prev = &in_place.h_prev[i * 40],
                    .slots = &in_place.slots[i * kSlots * 40],
                    .c_prev = c,
                    .c = c,
                    .h = &in_place.h[i * 40]});
  }
  RNNParam param;
  PackedStep{.mode = RNNMode::kLstm,
             .hidden = 40,
             .weight = in_place.packed.data(),
             .bias = in_place.bias.data(),
             .clip = CellClip<float>(param)}
      .Run(rows, 0, NumPackedPanels(40));
  EXPECT_EQ(in_place.h, apart.h);
  EXPECT_EQ(in_place.c_prev, apart.c);
}

TEST(PackedInputProductTest, FillsTheSlots) {
  ForEachCpuLevel([] {
    for (int threads : {1, 3}) {
      SetNumThreads(threads);
      for (int gates : {4, 3}) {
        for (int64_t hidden : {3, 16, 100}) {
          for (int64_t rows : {1, 7, 150}) {
            constexpr int64_t kDepth = 30;
            const std::vector<float> weight = RandomFloats(gates * hidden * kDepth, 1);
            const std::vector<float> input = RandomFloats(rows * kDepth, 2);
            std::vector<float> packed(PackedWeightSize(gates, hidden, kDepth), NAN);
            PackRNNWeight(weight.data(), gates, hidden, kDepth, packed.data());
            std::vector<float> slots(rows * kSlots * hidden, 77);
            PackedInputProduct{
                .gates = gates, .hidden = hidden, .depth = kDepth, .weight = packed.data()}
                .Run(input.data(), rows, slots.data());
            for (int64_t i = 0; i < rows; ++i) {
              for (int64_t j = 0; j < kSlots * hidden; ++j) {
                const float actual = slots[i * kSlots * hidden + j];
                int64_t row = j;
                if (gates == 3 && j >= 2 * hidden) {
                  row -= hidden;
                  if (j < 3 * hidden) {
                    ASSERT_EQ(actual, 77) << "the recurrent product's alone";
                    continue;
                  }
                }
                double expected = 0;
                for (int64_t k = 0; k < kDepth; ++k) {
                  expected += static_cast<double>(weight[row * kDepth + k]) * input[i * kDepth + k];
                }
                ASSERT_NEAR(actual, expected, 4e-6) << i << ", " << j;
              }
            }
          }
        }
      }
    }
    SetNumThreads(0);
  });
}

}  // namespace
}  // namespace cooper
