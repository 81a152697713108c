#include "executor/passes/program/slice_layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/compile/lower.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {
namespace {

// A test case: an operator that takes a part of an array, and the expected offset of the part.
struct Part {
  const char* name;
  const char* op;
  AttrMap attrs;
  Shape whole;
  std::optional<int64_t> begin;  // nullopt: the part is not contiguous
  Shape like = {};               // the second input, which has the part's shape; empty: none
};

class SliceLayoutTest : public ::testing::TestWithParam<Part> {
 protected:
  std::optional<SliceLayout> Layout(DType dtype) {
    const Part& part = GetParam();
    std::vector<Symbol> inputs = {Symbol::Variable("whole")};
    CompileOptions options{.shapes = {{"whole", part.whole}},
                           .types = {{"whole", dtype}},
                           .disabled_passes = {"transposes"}};
    if (part.like.rank() > 0) {
      inputs.push_back(Symbol::Variable("like"));
      options.shapes["like"] = part.like;
    }
    auto lowered = LowerToProgram(
        Op(part.op, {.name = "part", .inputs = inputs, .attrs = part.attrs}), options);
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return SliceLayoutOf(lowered->program, lowered->program.instructions.at(0));
  }
};

TEST_P(SliceLayoutTest, BeginsWhereTheOperatorTakesIt) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    const std::optional<SliceLayout> layout = Layout(dtype);
    ASSERT_EQ(layout.has_value(), GetParam().begin.has_value());
    if (!layout.has_value()) return;
    EXPECT_TRUE(layout->cuts);
    EXPECT_EQ(layout->pieces.size(), 1);
    EXPECT_EQ(layout->begin.at(0), *GetParam().begin * SizeOf(dtype));
  }
}

const Part kParts[] = {
    {"Rows", "slice_axis", {{"axis", "0"}, {"begin", "2"}, {"end", "4"}}, {5, 3}, 6},
    {"ToTheEnd", "slice_axis", {{"axis", "0"}, {"begin", "2"}, {"end", "None"}}, {5, 3}, 6},
    {"FromTheEnd", "slice_axis", {{"axis", "-2"}, {"begin", "-2"}, {"end", "-1"}}, {5, 3}, 9},
    {"Columns", "slice_axis", {{"axis", "1"}, {"begin", "0"}, {"end", "2"}}, {5, 3}, {}},
    {"ColumnsOfOneRow", "slice_axis", {{"axis", "1"}, {"begin", "1"}, {"end", "3"}}, {1, 3}, 1},
    {"AllColumns", "slice_axis", {{"axis", "1"}, {"begin", "0"}, {"end", "3"}}, {5, 3}, 0},
    {"Box", "slice", {{"begin", "(1, 1)"}, {"end", "(3, 2)"}}, {5, 3, 2}, {}},
    {"RowOfABox", "slice", {{"begin", "(1, 1)"}, {"end", "(2, 3)"}}, {5, 3, 2}, 8},
    {"Element", "slice", {{"begin", "(4, 2, 1)"}, {"end", "(5, 3, 2)"}}, {5, 3, 2}, 29},
    {"Nones", "slice", {{"begin", "(None, None)"}, {"end", "(2, None)"}}, {5, 3}, 0},
    {"EverySecond", "slice", {{"begin", "(0,)"}, {"end", "(5,)"}, {"step", "(2,)"}}, {5, 3}, {}},
    {"OneOfEverySecond",
     "slice",
     {{"begin", "(3,)"}, {"end", "(5,)"}, {"step", "(2,)"}},
     {5, 3},
     9},
    {"Backwards", "slice", {{"begin", "(3,)"}, {"end", "(1,)"}, {"step", "(-1,)"}}, {5, 3}, {}},
    {"OneBackwards", "slice", {{"begin", "(3,)"}, {"end", "(2,)"}, {"step", "(-1,)"}}, {5, 3}, 9},
    {"Nothing", "slice", {{"begin", "(2,)"}, {"end", "(2,)"}}, {5, 3}, {}},
    {"Like", "slice_like", {{"axes", "(0,)"}}, {5, 3}, 0, {2, 9}},
    {"LikeColumns", "slice_like", {}, {5, 3}, {}, {2, 2}},
    {"CropRows",
     "Crop",
     {{"num_args", "1"}, {"offset", "(2, 0)"}, {"h_w", "(2, 4)"}},
     {1, 1, 5, 4},
     8},
    {"CropOfChannels",
     "Crop",
     {{"num_args", "1"}, {"offset", "(2, 0)"}, {"h_w", "(2, 4)"}},
     {1, 2, 5, 4},
     {}},
    {"CropTheMiddle",
     "Crop",
     {{"num_args", "1"}, {"h_w", "(1, 2)"}, {"center_crop", "True"}},
     {1, 1, 5, 4},
     9},
    {"CropLike", "Crop", {{"num_args", "2"}, {"offset", "(3, 0)"}}, {1, 1, 5, 4}, 12, {1, 1, 1, 4}},
    {"Another", "reverse", {{"axis", "0"}}, {5, 3}, {}},
};

INSTANTIATE_TEST_SUITE_P(Parts, SliceLayoutTest, ::testing::ValuesIn(kParts),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SliceLayoutOfTest, PiecesFollowEachOther) {
  const Symbol join = Op("Concat", {.inputs = {Symbol::Variable("a"), Symbol::Variable("b")},
                                    .attrs = {{"num_args", "2"}, {"dim", "-3"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const LoweredProgram lowered,
      LowerToProgram(join, {.shapes = {{"a", {3, 2, 2}}, {"b", {1, 2, 2}}}}));
  const Program& p = lowered.program;
  const std::optional<SliceLayout> layout = SliceLayoutOf(p, p.instructions.at(0));
  ASSERT_TRUE(layout.has_value());
  EXPECT_FALSE(layout->cuts);
  EXPECT_EQ(layout->whole, p.outputs[0]);
  EXPECT_EQ(layout->begin, (std::vector<int64_t>{0, 48}));
}

}  // namespace
}  // namespace cooper
