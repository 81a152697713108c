// Compares kernels that read and write by indices, or sort elements, on a GPU with the CPU.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

const AttrMap kEmbedding = {{"input_dim", "6"}, {"output_dim", "8"}};
const std::vector<DType> kFloatDtypes = {DType::kFloat32, DType::kFloat64};
// The dtypes in which sums of 200 small integers of the table are exact: the CPU rounds each
// partial sum in float16.
const std::vector<DType> kChunkedDtypes = {DType::kFloat32, DType::kFloat16, DType::kInt32};

const KernelCase kCases[] = {
    // op, kernel, attributes, inputs, outputs, the input with indices, their begin, their end.
    {"Take", "take", "", {}, {{7, 5}, {3, 4}}, {{3, 4, 5}}, 1, -2, 9},
    {"TakeRows", "take", "", {}, {{7, 16}, {9}}, {{9, 16}}, 1, 0, 7},
    {"TakeWraps",
     "take",
     "",
     {{"axis", "1"}, {"mode", "wrap"}},
     {{3, 7, 4}, {5}},
     {{3, 5, 4}},
     1,
     -20,
     20},
    {"TakeRaises",
     "take",
     "",
     {{"axis", "-1"}, {"mode", "raise"}},
     {{3, 7}, {5}},
     {{3, 5}},
     1,
     0,
     7},
    {"TakeNone", "take", "", {}, {{7, 5}, {0}}, {{0, 5}}, 1, 0, 7},
    {"TakeBackward", "take", "_backward_take", {}, {{30, 5}, {30}}, {{7, 5}}, 1, -2, 9},
    {"TakeBackwardAxis",
     "take",
     "_backward_take",
     {{"axis", "1"}},
     {{3, 30, 4}, {30}},
     {{3, 7, 4}},
     1,
     0,
     7},
    {"TakeBackwardNone", "take", "_backward_take", {}, {{0, 5}, {0}}, {{7, 5}}, 1, 0, 7},
    // Enough elements for a sort of several passes.
    {"TakeBackwardMany",
     "take",
     "_backward_take",
     {},
     {{9000, 1}, {9000}},
     {{700, 1}},
     1,
     0,
     700,
     {},
     {DType::kInt32}},
    // More than one chunk of sums: exactly two chunks, one row more, one place, several places that
    // begin within a chunk, other axes.
    {"TakeBackwardTwoChunks",
     "take",
     "_backward_take",
     {},
     {{128, 3}, {128}},
     {{4, 3}},
     1,
     2,
     3,
     {},
     kChunkedDtypes},
    {"TakeBackwardOneMore",
     "take",
     "_backward_take",
     {},
     {{65, 3}, {65}},
     {{4, 3}},
     1,
     2,
     3,
     {},
     kChunkedDtypes},
    {"TakeBackwardPadding",
     "take",
     "_backward_take",
     {},
     {{700, 5}, {700}},
     {{7, 5}},
     1,
     -2,
     9,
     {},
     kChunkedDtypes},
    {"TakeBackwardPaddingAxis",
     "take",
     "_backward_take",
     {{"axis", "1"}},
     {{3, 450, 4}, {450}},
     {{3, 3, 4}},
     1,
     0,
     3,
     {},
     kChunkedDtypes},
    // A sum of 300 numbers has about as many rounding errors, in any order.
    {.name = "EmbeddingBackwardPadding",
     .op = "Embedding",
     .kernel = "_backward_Embedding",
     .attrs = kEmbedding,
     .inputs = {{600, 8}, {600}},
     .outputs = {{6, 8}},
     .indices = 1,
     .index_begin = 0,
     .index_end = 2,
     .dtypes = kFloatDtypes,
     .roundings = 300,
     .low = 0},
    {"Pick", "pick", "", {{"axis", "1"}}, {{3, 7, 4}, {3, 4}}, {{3, 4}}, 1, -2, 9},
    {"PickBackward",
     "pick",
     "_backward_pick",
     {{"axis", "1"}},
     {{3, 4}, {3, 4}},
     {{3, 7, 4}},
     1,
     -2,
     9},
    {"BatchTake", "batch_take", "", {}, {{5, 4}, {5}}, {{5}}, 1, -1, 5},
    {"Embedding", "Embedding", "", kEmbedding, {{4, 3}, {6, 8}}, {{4, 3, 8}}, 0, -1, 8},
    {"EmbeddingBackward",
     "Embedding",
     "_backward_Embedding",
     kEmbedding,
     {{20, 8}, {20}},
     {{6, 8}},
     1,
     -1,
     8,
     {},
     kFloatDtypes},
    {"GatherNd", "gather_nd", "", {}, {{5, 6, 4}, {2, 9}}, {{9, 4}}, 1, -5, 5},
    {"GatherNdBackward",
     "gather_nd",
     "_backward_gather_nd",
     {},
     {{9, 4}, {2, 9}},
     {{5, 6, 4}},
     1,
     -5,
     5},
    {"ScatterNd", "scatter_nd", "", {{"shape", "(5, 4)"}}, {{9, 4}, {1, 9}}, {{5, 4}}, 1, 0, 5},
    {"ScatterSetNd",
     "_scatter_set_nd",
     "",
     {{"shape", "(5, 4)"}},
     {{5, 4}, {9, 4}, {1, 9}},
     {{5, 4}},
     2,
     0,
     5},
    {"Ravel",
     "_ravel_multi_index",
     "",
     {{"shape", "(3, 4)"}},
     {{2, 6}},
     {{6}},
     -1,
     0,
     1,
     {},
     {DType::kFloat32, DType::kInt32, DType::kInt64}},
    {"Unravel",
     "_unravel_index",
     "",
     {{"shape", "(3, 4)"}},
     {{6}},
     {{2, 6}},
     -1,
     0,
     1,
     {},
     {DType::kFloat32, DType::kInt32, DType::kInt64}},
    {"SequenceMask",
     "SequenceMask",
     "",
     {{"use_sequence_length", "True"}, {"value", "1"}},
     {{5, 4, 3}, {4}},
     {{5, 4, 3}},
     1,
     -1,
     7},
    {"SequenceMaskAxis",
     "SequenceMask",
     "",
     {{"use_sequence_length", "True"}, {"axis", "1"}},
     {{5, 4, 8}, {5}},
     {{5, 4, 8}},
     1,
     0,
     5},
    {"SequenceReverse",
     "SequenceReverse",
     "",
     {{"use_sequence_length", "True"}},
     {{5, 4, 3}, {4}},
     {{5, 4, 3}},
     1,
     0,
     6},
    {"SequenceLast",
     "SequenceLast",
     "",
     {{"use_sequence_length", "True"}},
     {{5, 4, 3}, {4}},
     {{4, 3}},
     1,
     0,
     6},
    {"SequenceLastBackward",
     "SequenceLast",
     "_backward_SequenceLast",
     {{"use_sequence_length", "True"}},
     {{4, 3}, {4}},
     {{5, 4, 3}},
     1,
     1,
     6},
    {"OneHot", "one_hot", "", {{"depth", "6"}, {"on_value", "2"}}, {{9}}, {{9, 6}}},
    {"TopK",
     "topk",
     "",
     {{"k", "3"}, {"ret_typ", "both"}},
     {{4, 17}},
     {{4, 3}, {4, 3}},
     -1,
     0,
     1,
     {1}},
    {"TopKMask",
     "topk",
     "",
     {{"k", "3"}, {"ret_typ", "mask"}, {"axis", "0"}},
     {{17, 4}},
     {{17, 4}}},
    {"TopKIndices",
     "topk",
     "",
     {{"k", "2"}, {"axis", "1"}, {"is_ascend", "True"}},
     {{3, 17, 4}},
     {{3, 2, 4}},
     -1,
     0,
     1,
     {0}},
    {"Sort", "sort", "", {{"axis", "1"}}, {{3, 40, 2}}, {{3, 40, 2}, {3, 40, 2}}, -1, 0, 1, {1}},
    // Rows for warps, with each number of elements per thread, and longer rows.
    {"SortFew", "sort", "", {{"axis", "1"}}, {{5, 9}}, {{5, 9}, {5, 9}}, -1, 0, 1, {1}},
    {"SortWarp", "sort", "", {{"axis", "1"}}, {{11, 32}}, {{11, 32}, {11, 32}}, -1, 0, 1, {1}},
    {"SortFours", "sort", "", {{"axis", "0"}}, {{101, 3}}, {{101, 3}, {101, 3}}, -1, 0, 1, {1}},
    {"SortEights",
     "sort",
     "",
     {{"axis", "1"}, {"is_ascend", "False"}},
     {{2, 130}},
     {{2, 130}, {2, 130}},
     -1,
     0,
     1,
     {1}},
    {"TopKSixteens",
     "topk",
     "",
     {{"k", "40"}, {"ret_typ", "both"}},
     {{3, 300}},
     {{3, 40}, {3, 40}},
     -1,
     0,
     1,
     {1}},
    {"ArgsortMost", "argsort", "", {}, {{2, 1023}}, {{2, 1023}}, -1, 0, 1, {0}},
    {"ArgsortMore", "argsort", "", {}, {{2, 1025}}, {{2, 1025}}, -1, 0, 1, {0}},
    {"SortAll",
     "sort",
     "",
     {{"axis", "None"}, {"is_ascend", "False"}},
     {{7, 9}},
     {{63}, {63}},
     -1,
     0,
     1,
     {1}},
    {"Argsort", "argsort", "", {{"is_ascend", "False"}}, {{3, 40}}, {{3, 40}}, -1, 0, 1, {0}},
    // With at most five, the indices of a row are distinct, as those of a sorted row are.
    {"SortBackward", "sort", "_backward_sort", {}, {{1, 5}, {1, 5}}, {{1, 5}}, 1, 0, 5},
    {"TopKBackward", "topk", "_backward_topk", {{"k", "3"}}, {{1, 3}, {1, 3}}, {{1, 7}}, 1, 0, 7},
};

class IndexCudaTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(IndexCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqualKernels(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, IndexCudaTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// Returns the outputs of `symbol` on gpu(0) for these inputs.
absl::StatusOr<std::vector<NDArray>> Forward(const Symbol& symbol,
                                             const std::map<std::string, NDArray>& args) {
  BindOptions options{.context = Context::Gpu(0), .grad_req = WriteReq::kNull};
  for (const auto& [name, array] : args) {
    auto copy = NDArray::Empty(array.shape(), array.dtype(), options.context);
    if (!copy.ok()) return copy.status();
    if (absl::Status s = copy->CopyFrom(array); !s.ok()) return s;
    options.args[name] = *copy;
  }
  auto executor = Executor::SimpleBind(symbol, options);
  if (!executor.ok()) return executor.status();
  if (absl::Status s = (*executor)->Forward(false); !s.ok()) return s;
  auto outputs = (*executor)->outputs();
  if (!outputs.ok()) return outputs.status();
  return std::vector<NDArray>(outputs->begin(), outputs->end());
}

TEST(OrderingCudaTest, NanIsLargestAndZerosAreEqual) {
  COOPER_REQUIRE_GPU();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Symbol x = Symbol::Variable("x");
  const Symbol ascending = Op("argsort", {.inputs = {x}});
  const Symbol descending = Op("argsort", {.inputs = {x}, .attrs = {{"is_ascend", "False"}}});
  // A row for the sort of pairs, and rows for a warp.
  for (int64_t size : {8, 16, 600}) {
    std::vector<float> values = {0, nan, -inf, -0.0F, 1, -nan, inf, -2};
    std::vector<float> up = {2, 7, 0, 3, 4}, down = {1, 5, 6};
    for (int64_t i = 8; i < size; ++i) {
      values.push_back(static_cast<float>(i));
      up.push_back(static_cast<float>(i));
    }
    for (float at : {6, 1, 5}) up.push_back(at);
    for (int64_t i = size - 1; i >= 8; --i) down.push_back(static_cast<float>(i));
    for (float at : {4, 0, 3, 7, 2}) down.push_back(at);
    const NDArray data = *NDArray::FromVector<float>({size}, values);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto first, Forward(ascending, {{"x", data}}));
    EXPECT_EQ(*first[0].ToVector<float>(), up);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto second, Forward(descending, {{"x", data}}));
    EXPECT_EQ(*second[0].ToVector<float>(), down);
  }
}

TEST(IndexErrorsCudaTest, NameTheFirstIndexOutOfRange) {
  COOPER_REQUIRE_GPU();
  const Symbol x = Symbol::Variable("x"), i = Symbol::Variable("i");
  const NDArray data = *NDArray::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Forward(Op("take", {.inputs = {x, i}, .attrs = {{"mode", "raise"}}}),
                      {{"x", data}, {"i", *NDArray::FromVector<float>({3}, {1, 2, -1})}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("take: index 2 is out of range for axis 0 of input 'a' (2, 3)")));
  EXPECT_THAT(
      Forward(Op("gather_nd", {.inputs = {x, i}}),
              {{"x", data}, {"i", *NDArray::FromVector<float>({2, 2}, {1, 0, -4, 3})}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("index -4 is out of range for axis 1 of an array of shape (2, 3)")));
}

}  // namespace
}  // namespace cooper
