// Compares kernels that move elements on a GPU with the CPU.

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

const KernelCase kCases[] = {
    // Whole tiles, parts of tiles, axes around them, and rows of words of 1 to 16 bytes.
    {"Transpose", "transpose", "", {}, {{64, 32}}, {{32, 64}}},
    {"TransposeParts", "transpose", "", {{"axes", "(2, 0, 1)"}}, {{3, 37, 70}}, {{70, 3, 37}}},
    {"TransposeMiddle", "transpose", "", {{"axes", "(0, 2, 1)"}}, {{3, 33, 17}}, {{3, 17, 33}}},
    {"TransposeRows", "transpose", "", {{"axes", "(1, 0, 2)"}}, {{3, 5, 16}}, {{5, 3, 16}}},
    {"TransposeSmall", "transpose", "", {}, {{3, 5}}, {{5, 3}}},
    {"TransposeEmpty", "transpose", "", {}, {{3, 0}}, {{0, 3}}},
    {"SwapAxis", "SwapAxis", "", {{"dim1", "0"}, {"dim2", "2"}}, {{4, 3, 6}}, {{6, 3, 4}}},
    {"Reshape", "Reshape", "", {{"shape", "(-1, 3)"}}, {{5, 9}}, {{15, 3}}},
    {"Slice",
     "slice",
     "",
     {{"begin", "(1, None)"}, {"end", "(6, None)"}, {"step", "(2, -1)"}},
     {{7, 9}},
     {{3, 9}}},
    {"SliceBackward",
     "slice",
     "_backward_slice",
     {{"begin", "(1, 4)"}, {"end", "(6, 8)"}},
     {{5, 4}},
     {{7, 9}}},
    {"SliceAxis",
     "slice_axis",
     "",
     {{"axis", "1"}, {"begin", "8"}, {"end", "24"}},
     {{5, 48}},
     {{5, 16}}},
    {"SliceAssign",
     "_slice_assign",
     "",
     {{"begin", "(1, 2)"}, {"end", "(4, 8)"}},
     {{5, 9}, {3, 6}},
     {{5, 9}}},
    {"SliceAssignScalar",
     "_slice_assign_scalar",
     "",
     {{"begin", "(1, 2)"}, {"end", "(4, 8)"}, {"scalar", "3"}},
     {{5, 9}},
     {{5, 9}}},
    {"Tile", "tile", "", {{"reps", "(2, 3)"}}, {{4, 5}}, {{8, 15}}},
    {"TileBackward", "tile", "_backward_tile", {{"reps", "(2, 3)"}}, {{8, 15}}, {{4, 5}}},
    {"TileBackwardOnce", "tile", "_backward_tile", {{"reps", "(1, 1)"}}, {{4, 5}}, {{4, 5}}},
    {"TileBackwardOfOne", "tile", "_backward_tile", {{"reps", "(1,)"}}, {{1}}, {{1}}},
    {"TileBackwardRank", "tile", "_backward_tile", {{"reps", "(3, 2, 2)"}}, {{3, 4, 6}}, {{2, 3}}},
    {"RepeatBackwardNone", "repeat", "_backward_repeat", {{"repeats", "0"}}, {{0}}, {{1, 3}}},
    {"TileNone", "tile", "_backward_tile", {{"reps", "(0, 3)"}}, {{0, 15}}, {{4, 5}}},
    {"Repeat", "repeat", "", {{"repeats", "3"}, {"axis", "0"}}, {{4, 8}}, {{12, 8}}},
    {"RepeatBackward",
     "repeat",
     "_backward_repeat",
     {{"repeats", "3"}, {"axis", "0"}},
     {{12, 8}},
     {{4, 8}}},
    {"Reverse", "reverse", "", {{"axis", "(0, 2)"}}, {{3, 4, 5}}, {{3, 4, 5}}},
    {"Diag", "diag", "", {{"k", "1"}}, {{5, 7}}, {{5}}},
    {"DiagBackward", "diag", "_backward_diag", {{"k", "1"}}, {{5}}, {{5, 7}}},
    {"DepthToSpace", "depth_to_space", "", {{"block_size", "2"}}, {{2, 8, 3, 5}}, {{2, 2, 6, 10}}},
    {"SpaceToDepth", "space_to_depth", "", {{"block_size", "2"}}, {{2, 2, 6, 10}}, {{2, 8, 3, 5}}},
    {"Split",
     "SliceChannel",
     "",
     {{"num_outputs", "3"}, {"axis", "1"}},
     {{4, 9, 5}},
     {{4, 3, 5}, {4, 3, 5}, {4, 3, 5}}},
    {"SplitBackward",
     "SliceChannel",
     "_backward_SliceChannel",
     {{"num_outputs", "2"}, {"axis", "1"}},
     {{4, 8}, {4, 8}},
     {{4, 16}}},
    {"Concat",
     "Concat",
     "",
     {{"dim", "1"}, {"num_args", "4"}},
     {{3, 2}, {3, 0}, {3, 5}, {3, 1}},
     {{3, 8}}},
    {"ConcatBackward",
     "Concat",
     "_backward_Concat",
     {{"dim", "1"}, {"num_args", "1"}},
     {{3, 8}},
     {{3, 2}, {3, 0}, {3, 5}, {3, 1}}},
    {"Stack", "stack", "", {{"axis", "1"}, {"num_args", "2"}}, {{3, 5}, {3, 5}}, {{3, 2, 5}}},
    {"PadConstant",
     "Pad",
     "",
     {{"mode", "constant"}, {"pad_width", "(0, 0, 1, 0, 2, 1, 0, 3)"}, {"constant_value", "1"}},
     {{2, 3, 4, 5}},
     {{2, 4, 7, 8}}},
    {"PadEdge",
     "Pad",
     "",
     {{"mode", "edge"}, {"pad_width", "(0, 0, 0, 0, 2, 1, 5, 3)"}},
     {{2, 3, 4, 1}},
     {{2, 3, 7, 9}}},
    {"PadReflectBackward",
     "Pad",
     "_backward_Pad",
     {{"mode", "reflect"}, {"pad_width", "(0, 0, 0, 0, 2, 3, 4, 1)"}},
     {{2, 3, 9, 10}},
     {{2, 3, 4, 5}}},
    {"PadEdgeBackward",
     "Pad",
     "_backward_Pad",
     {{"mode", "edge"}, {"pad_width", "(0, 0, 0, 0, 2, 1, 5, 3)"}},
     {{2, 3, 7, 9}},
     {{2, 3, 4, 1}}},
    {"PadConstantBackward",
     "Pad",
     "_backward_Pad",
     {{"mode", "constant"}, {"pad_width", "(0, 0, 1, 0, 2, 1, 0, 3)"}},
     {{2, 4, 7, 8}},
     {{2, 3, 4, 5}}},
    // Four axes after axes without padding are merged, and more than four.
    {"PadFourAxes",
     "Pad",
     "",
     {{"mode", "reflect"}, {"pad_width", "(0, 0, 0, 0, 1, 2, 2, 0, 1, 1)"}},
     {{2, 1, 3, 4, 2}},
     {{2, 1, 6, 6, 4}}},
    {"PadFourAxesBackward",
     "Pad",
     "_backward_Pad",
     {{"mode", "reflect"}, {"pad_width", "(0, 0, 0, 0, 1, 2, 2, 0, 1, 1)"}},
     {{2, 1, 6, 6, 4}},
     {{2, 1, 3, 4, 2}}},
    {"PadManyAxes",
     "Pad",
     "",
     {{"mode", "constant"},
      {"pad_width", "(0, 0, 1, 0, 0, 2, 1, 1, 0, 1)"},
      {"constant_value", "2"}},
     {{2, 1, 3, 2, 2}},
     {{2, 2, 5, 4, 3}}},
    {"PadManyAxesBackward",
     "Pad",
     "_backward_Pad",
     {{"mode", "constant"}, {"pad_width", "(0, 0, 1, 0, 0, 2, 1, 1, 0, 1)"}},
     {{2, 2, 5, 4, 3}},
     {{2, 1, 3, 2, 2}}},
    {"PadReflect",
     "Pad",
     "",
     {{"mode", "reflect"}, {"pad_width", "(0, 0, 0, 0, 2, 3, 4, 1)"}},
     {{2, 3, 4, 5}},
     {{2, 3, 9, 10}}},
};

class ShapeCudaTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(ShapeCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqualKernels(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ShapeCudaTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// Gradients with many terms, whose sums bfloat16 cannot represent: one, several, and rows of them.
const KernelCase kManySummands[] = {
    {"TileToOne", "tile", "_backward_tile", {{"reps", "(9, 30)"}}, {{9, 30}}, {{1, 1}}},
    {"TileToOneInParts", "tile", "_backward_tile", {{"reps", "(5000,)"}}, {{5000}}, {{1}}},
    {"TileToFew", "tile", "_backward_tile", {{"reps", "(30, 9)"}}, {{30, 27}}, {{1, 3}}},
    {"TileToRow", "tile", "_backward_tile", {{"reps", "(40, 1)"}}, {{40, 6}}, {{1, 6}}},
    {"RepeatFlat", "repeat", "_backward_repeat", {{"repeats", "70"}}, {{210}}, {{1, 3}}},
};

TEST(ShapeCudaSumTest, OfManyEqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (KernelCase test : kManySummands) {
    SCOPED_TRACE(test.name);
    test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kUint8, DType::kInt32, DType::kInt64};
    ExpectEqualKernels(test);
  }
}

// There are more parts than one launch takes, of two lengths.
TEST(SplitJoinCudaTest, ManyPieces) {
  COOPER_REQUIRE_GPU();
  KernelCase test{.name = "ManyPieces", .op = "Concat", .attrs = {{"dim", "1"}}};
  for (int i = 0; i < 300; ++i) test.inputs.push_back({3, i % 2 == 0 ? 4 : 8});
  test.attrs["num_args"] = "300";
  test.outputs = {{3, 1800}};
  test.dtypes = {DType::kFloat32, DType::kFloat16};
  ExpectEqualKernels(test);
}

}  // namespace
}  // namespace cooper
