// Tests the parts, tiles and errors of a chain without running kernels.

#include "executor/plan/tile_plan.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "executor/run/tiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

TEST(TileChainTest, PartsCoverAllElements) {
  for (int64_t elements : {1, 63, 64, 65, 1000, 4097}) {
    for (int parts : {1, 2, 3, 7}) {
      const TileChain chain{.elements = elements, .parts = parts};
      EXPECT_EQ(chain.PartBegin(0), 0);
      EXPECT_EQ(chain.PartBegin(parts), elements);
      for (int part = 0; part < parts; ++part) {
        EXPECT_LE(chain.PartBegin(part), chain.PartBegin(part + 1));
      }
    }
  }
}

class RunTilesTest : public ::testing::Test {
 protected:
  RunTilesTest() : input_{{nullptr, Shape({kElements}), DType::kFloat32}}, output_(input_) {
    data_.resize(kElements, 1.0f);
    input_[0].data = output_[0].data = data_.data();
    context_.inputs = input_;
    context_.outputs = output_;
    steps_.assign(3, {.context = &context_, .input_slots = {-1}, .output_slots = {-1}});
    SetNumThreads(4);
  }
  ~RunTilesTest() override { SetNumThreads(threads_); }

  static constexpr int64_t kElements = 5000;
  const int threads_ = NumThreads();
  std::vector<float> data_;
  std::vector<ArrayView> input_, output_;
  OpCall call_{};
  KernelContext context_{.call = call_};
  std::vector<TiledStep> steps_;
  TileChain chain_{.elements = kElements, .parts = 4, .tile_elements = 320};
};

TEST_F(RunTilesTest, EveryStepMeetsEveryElementOnceAndInOrder) {
  COOPER_EXPECT_OK(RunTiles(chain_, steps_, nullptr, [&](size_t step, const KernelContext& tile) {
    const ArrayView& view = tile.inputs[0];
    EXPECT_LE(view.size(), chain_.tile_elements);
    for (int64_t i = 0; i < view.size(); ++i) {
      float& x = view.as<float>()[i];
      x = 10 * x + static_cast<float>(step);
    }
    return absl::OkStatus();
  }));
  EXPECT_THAT(data_, Each(1012.0f));
}

TEST_F(RunTilesTest, SlotsAreAPartsOwn) {
  chain_.slots = 1;
  chain_.slot_bytes = chain_.tile_elements * 4;
  std::vector<char> workspace(chain_.workspace_bytes());
  steps_[0].output_slots = steps_[1].input_slots = {0};
  steps_.resize(2);
  COOPER_EXPECT_OK(
      RunTiles(chain_, steps_, workspace.data(), [&](size_t, const KernelContext& tile) {
        for (int64_t i = 0; i < tile.inputs[0].size(); ++i) {
          tile.outputs[0].as<float>()[i] = tile.inputs[0].as<float>()[i] + 1;
        }
        return absl::OkStatus();
      }));
  EXPECT_THAT(data_, Each(3.0f));
}

TEST_F(RunTilesTest, AnErrorEndsItsPartAndIsTold) {
  std::atomic<int> later = 0;
  EXPECT_THAT(RunTiles(chain_, steps_, nullptr,
                       [&](size_t step, const KernelContext& tile) -> absl::Status {
                         if (step == 2) ++later;
                         if (step != 1) return absl::OkStatus();
                         return absl::InternalError("no such tile");
                       }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("no such tile")));
  EXPECT_EQ(later, 0);
}

}  // namespace
}  // namespace cooper
