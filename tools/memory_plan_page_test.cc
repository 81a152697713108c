#include "tools/memory_plan_page.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns the memory of a chain of layers with `hidden` units.
PlacedMemory Chain(int layers, int hidden, bool training) {
  Symbol x = Symbol::Variable("data");
  for (int i = 0; i < layers; ++i) {
    x = op::FullyConnected(x, {.num_hidden = hidden, .name = absl::StrCat("fc", i)});
    x = op::Activation(x, {.act_type = "tanh", .name = absl::StrCat("act", i)});
  }
  x = op::SoftmaxOutput(x, {.name = "softmax"});
  BindOptions options;
  options.shapes = {{"data", PartialShape({32, 10})}, {"softmax_label", PartialShape({32})}};
  options.grad_req = training ? WriteReq::kWrite : WriteReq::kNull;
  options.grad_reqs = {{"data", WriteReq::kNull}, {"softmax_label", WriteReq::kNull}};
  return PlacedMemoryOf(**Executor::Compile(x, options));
}

TEST(MemoryPlanPageTest, KnowsWhatIsLiveAtThePeak) {
  const PlacedMemory memory{.values = {{"a", 100, 0, 0, 1},
                                       {"b", 50, 128, 1, 3, PlacedValue::Kind::kWorkspace},
                                       {"c", 90, 0, 2, 2, PlacedValue::Kind::kGradient},
                                       {"d", 10, 192, 3, 3}},
                            .arena_bytes = 202,
                            .num_steps = 4,
                            .num_forward = 2};
  EXPECT_EQ(memory.PeakStep(), 1);
  EXPECT_EQ(memory.BytesAt(1), 150);
  EXPECT_EQ(memory.BytesAt(3), 60);
  const std::string page = MemoryPlanPage("<net>", memory);
  EXPECT_THAT(
      page, AllOf(HasSubstr("Memory of <bdi>&lt;net&gt;</bdi>"),
                  HasSubstr("<dt>arena</dt><dd>202 B</dd>"),
                  HasSubstr("<dt>without sharing</dt><dd>250 B</dd>"),
                  HasSubstr("<dt>saved</dt><dd>19.2 %</dd>"), HasSubstr("<h2>Live at step 1</h2>"),
                  HasSubstr("<tr><td>a</td><td>1</td><td>activation</td><td>100 B</td>"
                            "<td>66.7 %</td><td>0 to 1</td>"),
                  HasSubstr("<title>c: gradient, 90 B, steps 2 to 2, from byte 0 on</title>")));
  // Boxes have the kind's colour, pale unless live at the peak; the legend has all three kinds.
  for (const char* box : {"class=\"bar\"><title>a:", "class=\"third\"><title>b:",
                          "class=\"second\" fill-opacity=\"0.45\"><title>c:", "class=\"third\"/>",
                          ">activation</text>", ">gradient</text>", ">workspace</text>"}) {
    EXPECT_THAT(page, HasSubstr(box));
  }
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(MemoryPlanPageTest, TheBoxesOfAProgramAreItsPlan) {
  for (const bool training : {false, true}) {
    const PlacedMemory memory = Chain(6, 50, training);
    ASSERT_FALSE(memory.values.empty());
    for (const PlacedValue& value : memory.values) {
      EXPECT_FALSE(value.name.empty());
      EXPECT_LE(value.offset + value.bytes, memory.arena_bytes) << value.name;
      EXPECT_LT(value.last, memory.num_steps) << value.name;
    }
    EXPECT_EQ(training, memory.num_forward < memory.num_steps);
    EXPECT_LE(memory.BytesAt(memory.PeakStep()), memory.arena_bytes);
  }
}

TEST(MemoryPlanPageTest, ValuesHaveKinds) {
  const auto count = [](const PlacedMemory& memory, PlacedValue::Kind kind) {
    return std::count_if(memory.values.begin(), memory.values.end(),
                         [&](const PlacedValue& value) { return value.kind == kind; });
  };
  EXPECT_EQ(count(Chain(6, 50, false), PlacedValue::Kind::kGradient), 0);
  EXPECT_GT(count(Chain(6, 50, false), PlacedValue::Kind::kActivation), 0);
  const PlacedMemory memory = Chain(6, 50, true);
  EXPECT_GT(count(memory, PlacedValue::Kind::kGradient), 0);
  for (const PlacedValue& value : memory.values) {
    if (absl::StartsWith(value.name, "scratch memory of ")) {
      EXPECT_EQ(value.kind, PlacedValue::Kind::kWorkspace) << value.name;
    } else {
      EXPECT_EQ(value.kind == PlacedValue::Kind::kGradient, value.first >= memory.num_forward)
          << value.name;
    }
  }
}

TEST(MemoryPlanPageTest, PagesOfAnySizeHaveNoFault) {
  EXPECT_THAT(PageProblems(MemoryPlanPage("nothing", {})), IsEmpty());
  for (const int layers : {1, 8, 40}) {
    for (const int hidden : {1, 3000}) {
      EXPECT_THAT(PageProblems(MemoryPlanPage("chain", Chain(layers, hidden, true))), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace cooper
