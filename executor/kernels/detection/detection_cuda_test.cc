// Compares the operators of detection on gpu(0) with cpu(0).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

// How the numbers of an input are generated.
enum class Fill : uint8_t {
  kBoxes,     // corners in [-0.2, 1.2]
  kRows,      // a class of 0 to 2 or -1, a score, corners
  kLabels,    // a class and corners; the last rows of an image may be -1
  kRois,      // a sample, the first -1, the others 0 to 2; corners in [-2, 14]
  kWideRois,  // as kRois, but columns in [-8, 56]
  kValues,    // in [-1, 1]
  kInfo,      // images of 40 by 50 pixels, not scaled
};

struct Input {
  const char* name;
  Shape shape;
  Fill fill;
};

struct DetectionCase {
  std::string name, op;
  AttrMap attrs;
  std::vector<Input> inputs;
  bool backward = false;
  bool float32_only = false;
};

std::vector<double> Numbers(const Input& input, std::mt19937& random) {
  std::vector<double> numbers(input.shape.num_elements());
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const int64_t width = input.shape[input.shape.rank() - 1];
  if (input.fill == Fill::kInfo) {
    constexpr double kInfo[3] = {40, 50, 1};
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = kInfo[i % 3];
    return numbers;
  }
  for (int64_t at = 0; at < input.shape.num_elements(); at += width) {
    double* row = numbers.data() + at;
    if (input.fill == Fill::kValues) {
      for (int64_t k = 0; k < width; ++k) row[k] = draw(-1, 1);
      continue;
    }
    const int64_t box = width - 4;
    const bool is_wide = input.fill == Fill::kWideRois;
    const bool is_roi = is_wide || input.fill == Fill::kRois;
    for (int axis = 0; axis < 2; ++axis) {
      const double first = is_roi ? draw(-2, 8) : draw(-0.2, 0.9);
      row[box + axis] = first;
      row[box + axis + 2] = first + (is_roi ? draw(0.2, 6) : draw(0.05, 0.5));
      if (!is_wide || axis > 0) continue;
      row[box + axis] *= 4;
      row[box + axis + 2] *= 4;
    }
    if (box > 0) row[0] = static_cast<double>(random() % 4) - 1;
    if (is_roi) row[0] = at == 0 ? -1 : static_cast<double>(random() % 3);
    if (input.fill == Fill::kRows) row[1] = static_cast<double>(random() % 16) / 16;
    if (input.fill == Fill::kLabels) {
      const int64_t label = at / width % input.shape[1];
      row[0] = static_cast<double>(random() % 3);
      // The last image has no object; the others have one less than there are rows.
      const bool is_last_image = at / width / input.shape[1] == input.shape[0] - 1;
      if (is_last_image || label == input.shape[1] - 1) std::fill_n(row, width, -1);
    }
  }
  return numbers;
}

// Returns the outputs, and the gradients of the first input and of trans if there are any.
std::vector<std::vector<double>> RunOn(const DetectionCase& test, DType dtype,
                                       const Context& context) {
  std::mt19937 random(7);
  std::vector<std::vector<double>> results;
  std::vector<Symbol> inputs;
  BindOptions options = {.context = context, .grad_req = WriteReq::kNull};
  std::vector<std::string> wanted;
  for (const Input& input : test.inputs) {
    if (!test.backward || (&input != &test.inputs[0] && input.name != std::string("trans")))
      continue;
    wanted.emplace_back(input.name);
    options.grad_reqs[input.name] = WriteReq::kWrite;
  }
  for (const Input& input : test.inputs) {
    inputs.push_back(Symbol::Variable(input.name));
    options.shapes[input.name] = input.shape;
    options.types[input.name] = dtype;
  }
  auto symbol = Symbol::Create(test.op, {.name = "op", .inputs = inputs, .attrs = test.attrs});
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  auto executor = Executor::SimpleBind(*symbol, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!symbol.ok() || !executor.ok()) return results;
  for (const Input& input : test.inputs) {
    const NDArray values = *NDArray::FromVector<double>(input.shape, Numbers(input, random));
    COOPER_EXPECT_OK((*executor)->arg(input.name).CopyFrom(values));
  }
  const auto keep = [&](const NDArray& array) {
    const NDArray doubles = *NDArray::Zeros(array.shape(), DType::kFloat64);
    COOPER_EXPECT_OK(NDArray(doubles).CopyFrom(array));
    results.push_back(*doubles.ToVector<double>());
  };
  COOPER_EXPECT_OK((*executor)->Forward(test.backward));
  const auto outputs = (*executor)->outputs();
  for (const NDArray& output : *outputs) keep(output);
  if (!test.backward) return results;
  const Shape shape = (*executor)->output_shapes()[0];
  const NDArray head =
      *NDArray::FromVector<double>(shape, Numbers({"", shape, Fill::kValues}, random));
  NDArray head_there = *NDArray::Zeros(shape, dtype, context);
  COOPER_EXPECT_OK(head_there.CopyFrom(head));
  COOPER_EXPECT_OK((*executor)->Backward({head_there}));
  for (const std::string& name : wanted) keep((*executor)->grad(name));
  return results;
}

std::vector<DetectionCase> Cases() {
  const Input anchors = {"anchor", {1, 300, 4}, Fill::kBoxes};
  const Input labels = {"label", {3, 5, 6}, Fill::kLabels};
  const Input classes = {"cls_pred", {3, 4, 300}, Fill::kValues};
  const Input probabilities = {"cls_prob", {3, 4, 300}, Fill::kValues};
  const Input locations = {"loc_pred", {3, 1200}, Fill::kValues};
  const Input rows = {"data", {2, 300, 6}, Fill::kRows};
  const Input image = {"data", {2, 8, 7, 9}, Fill::kValues};
  const Input rois = {"rois", {6, 5}, Fill::kRois};
  return {
      {"prior",
       "_contrib_MultiBoxPrior",
       {{"sizes", "(0.2, 0.5)"}, {"ratios", "(1, 2, 0.5)"}, {"clip", "True"}},
       {image}},
      {"prior with steps",
       "_contrib_MultiBoxPrior",
       {{"steps", "(0.1, 0.2)"}, {"offsets", "(0, 1)"}},
       {image}},
      {"target", "_contrib_MultiBoxTarget", {}, {anchors, labels, classes}},
      {"target with mining",
       "_contrib_MultiBoxTarget",
       {{"negative_mining_ratio", "3"}, {"overlap_threshold", "0.3"}, {"ignore_label", "-2"}},
       {anchors, labels, classes}},
      {"target of best anchors alone",
       "_contrib_MultiBoxTarget",
       {{"overlap_threshold", "0"}},
       {anchors, labels, classes}},
      {"detection",
       "_contrib_MultiBoxDetection",
       {{"threshold", "0.3"}},
       {probabilities, locations, anchors}},
      {"detection of few",
       "_contrib_MultiBoxDetection",
       {{"nms_topk", "40"}, {"force_suppress", "True"}, {"clip", "False"}},
       {probabilities, locations, anchors}},
      {"detection of everything",
       "_contrib_MultiBoxDetection",
       {{"nms_threshold", "-1"}},
       {probabilities, locations, anchors}},
      {"nms", "_contrib_box_nms", {}, {rows}, true},
      {"nms of classes",
       "_contrib_box_nms",
       {{"id_index", "0"}, {"background_id", "0"}, {"topk", "70"}, {"out_format", "center"}},
       {rows},
       true},
      {"nms of nothing", "_contrib_box_nms", {{"valid_thresh", "2"}}, {rows}, true},
      {"nms of most", "_contrib_box_nms", {{"overlap_thresh", "0.9"}}, {rows}, true},
      {"nms without looking", "_contrib_box_nms", {{"topk", "0"}}, {rows}, true},
      {"nms of centers",
       "_contrib_box_nms",
       {{"in_format", "center"}, {"out_format", "corner"}, {"overlap_thresh", "0.1"}},
       {rows},
       true},
      {"iou",
       "_contrib_box_iou",
       {},
       {{"lhs", {2, 150, 4}, Fill::kBoxes}, {"rhs", {7, 4}, Fill::kBoxes}}},
      {"decoding",
       "_contrib_box_decode",
       {{"format", "corner"}, {"clip", "0.5"}, {"std0", "0.1"}},
       {{"data", {3, 100, 4}, Fill::kValues}, {"anchors", {1, 100, 4}, Fill::kBoxes}}},
      {"encoding",
       "_contrib_box_encode",
       {},
       {{"samples", {2, 150}, Fill::kValues},
        {"matches", {2, 150}, Fill::kValues},
        {"anchors", {2, 150, 4}, Fill::kBoxes},
        {"refs", {2, 1, 4}, Fill::kBoxes},
        {"means", {4}, Fill::kValues},
        {"stds", {4}, Fill::kValues}}},
      {"matching",
       "_contrib_bipartite_matching",
       {{"threshold", "-0.2"}},
       {{"data", {3, 30, 17}, Fill::kValues}}},
      {"matching of the least",
       "_contrib_bipartite_matching",
       {{"threshold", "0.5"}, {"is_ascend", "True"}, {"topk", "9"}},
       {{"data", {30, 17}, Fill::kValues}}},
      {"align",
       "_contrib_ROIAlign",
       {{"pooled_size", "(3, 2)"}, {"spatial_scale", "0.8"}},
       {image, rois},
       true},
      {"align of positions",
       "_contrib_ROIAlign",
       {{"pooled_size", "(2, 2)"},
        {"spatial_scale", "1"},
        {"sample_ratio", "3"},
        {"position_sensitive", "True"},
        {"aligned", "True"}},
       {image, rois},
       true},
      // More planes, columns and regions than a block handles at once.
      {"align of a wide image",
       "_contrib_ROIAlign",
       {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}},
       {{"data", {3, 67, 4, 45}, Fill::kValues}, {"rois", {9, 5}, Fill::kWideRois}},
       true},
      {"align of many regions",
       "_contrib_ROIAlign",
       {{"pooled_size", "(2, 3)"}, {"spatial_scale", "1"}, {"sample_ratio", "1"}},
       {{"data", {2, 2, 3, 9}, Fill::kValues}, {"rois", {270, 5}, Fill::kRois}},
       true},
      {"proposals",
       "_contrib_MultiProposal",
       {{"scales", "(0.5, 1)"},
        {"ratios", "(0.5, 1, 2)"},
        {"feature_stride", "4"},
        {"rpn_min_size", "2"},
        {"output_score", "True"},
        {"rpn_post_nms_top_n", "90"}},
       {{"cls_prob", {2, 12, 12, 15}, Fill::kValues},
        {"bbox_pred", {2, 24, 12, 15}, Fill::kValues},
        {"im_info", {2, 3}, Fill::kInfo}},
       false,
       true},
      {"proposals of all boxes",
       "_contrib_Proposal",
       {{"scales", "(1,)"},
        {"ratios", "(1,)"},
        {"feature_stride", "4"},
        {"rpn_min_size", "2"},
        {"output_score", "True"},
        {"rpn_pre_nms_top_n", "0"},
        {"threshold", "0.1"},
        {"iou_loss", "True"}},
       {{"cls_prob", {1, 2, 12, 15}, Fill::kValues},
        {"bbox_pred", {1, 4, 12, 15}, Fill::kValues},
        {"im_info", {1, 3}, Fill::kInfo}},
       false,
       true},
      {"pooling of positions",
       "_contrib_PSROIPooling",
       {{"spatial_scale", "0.8"}, {"output_dim", "2"}, {"pooled_size", "3"}, {"group_size", "2"}},
       {image, rois},
       true},
      {"deformable pooling of positions",
       "_contrib_DeformablePSROIPooling",
       {{"spatial_scale", "0.8"},
        {"output_dim", "2"},
        {"pooled_size", "3"},
        {"group_size", "2"},
        {"part_size", "2"},
        {"sample_per_part", "3"},
        {"trans_std", "0.3"}},
       {image, rois, {"trans", {6, 4, 2, 2}, Fill::kValues}},
       true},
      {"pooling of positions in unmoved bins",
       "_contrib_DeformablePSROIPooling",
       {{"spatial_scale", "1"},
        {"output_dim", "2"},
        {"pooled_size", "2"},
        {"group_size", "2"},
        {"no_trans", "True"}},
       {image, rois},
       true},
      {"pooling",
       "ROIPooling",
       {{"pooled_size", "(3, 2)"}, {"spatial_scale", "0.8"}},
       {image, rois},
       true},
      {"pooling of a wide image",
       "ROIPooling",
       {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}},
       {{"data", {3, 67, 4, 45}, Fill::kValues}, {"rois", {9, 5}, Fill::kWideRois}},
       true},
      {"pooling of many regions",
       "ROIPooling",
       {{"pooled_size", "(2, 3)"}, {"spatial_scale", "1"}},
       {{"data", {2, 2, 3, 9}, Fill::kValues}, {"rois", {270, 5}, Fill::kRois}},
       true},
  };
}

// Executors accumulate gradients only; kernels must accumulate any output.
TEST(DetectionCudaTest, AddsToWhatIsThere) {
  COOPER_REQUIRE_GPU();
  for (const DetectionCase& test : Cases()) {
    SCOPED_TRACE(test.name);
    std::mt19937 random(7);
    std::vector<Symbol> inputs;
    BindOptions options = {.grad_req = WriteReq::kNull};
    KernelRun run = {.kernel = test.op,
                     .call = *MakeOpCall(test.op, test.attrs, test.inputs.size())};
    for (const Input& input : test.inputs) {
      inputs.push_back(Symbol::Variable(input.name));
      options.shapes[input.name] = input.shape;
      const NDArray values = *NDArray::FromVector<double>(input.shape, Numbers(input, random));
      run.inputs.push_back(*values.AsType(DType::kFloat32));
    }
    const Symbol symbol = *Symbol::Create(test.op, {.inputs = inputs, .attrs = test.attrs});
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(symbol, options));
    for (const Shape& shape : executor->output_shapes()) {
      run.outputs.push_back(RandomArray(shape, DType::kFloat32, 1, 3));
      run.reqs.push_back(WriteReq::kAdd);
    }
    if (test.op == "_contrib_box_nms") {  // and the record for the gradient
      run.outputs.push_back(*NDArray::Zeros({2, 300, 1}, DType::kInt32));
      run.reqs.push_back(WriteReq::kWrite);
    }
    const auto expected = RunKernelOn(Context::Cpu(), run),
               actual = RunKernelOn(Context::Gpu(0), run);
    ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
    for (size_t i = 0; i < expected->size(); ++i) {
      ExpectClose((*actual)[i], (*expected)[i], 64, "array " + std::to_string(i));
    }
    EXPECT_NE((*actual)[run.inputs.size()].ToVector<float>(), run.outputs[0].ToVector<float>());
  }
}

// Tests an image with too many boxes for a bit matrix of all pairs; 60 are candidates.
TEST(DetectionCudaTest, NmsOfTooManyBoxesForBits) {
  COOPER_REQUIRE_GPU();
  constexpr int64_t kBoxes = 32800, kWidth = 6, kApart = 500;
  NDArray data = *NDArray::Zeros({kBoxes, kWidth}, DType::kFloat32);
  std::mt19937 random(7);
  const std::vector<double> rows = Numbers({"", {60, kWidth}, Fill::kRows}, random);
  for (int64_t i = 0; i < 60; ++i) {
    float* const row = static_cast<float*>(data.raw_data()) + i * kApart * kWidth;
    for (int64_t k = 0; k < kWidth; ++k) row[k] = static_cast<float>(rows[i * kWidth + k]);
    row[1] += 1;
  }
  const KernelRun run = {.kernel = "_contrib_box_nms",
                         .call = *MakeOpCall("_contrib_box_nms", {{"valid_thresh", "0.5"}}, 1),
                         .inputs = {data},
                         .outputs = {*NDArray::Zeros({kBoxes, kWidth}, DType::kFloat32),
                                     *NDArray::Zeros({kBoxes, 1}, DType::kInt32)},
                         .reqs = {WriteReq::kWrite, WriteReq::kWrite}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, RunKernelOn(Context::Cpu(), run));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto actual, RunKernelOn(Context::Gpu(0), run));
  EXPECT_EQ(*actual[1].ToVector<float>(), *expected[1].ToVector<float>());
  EXPECT_EQ(*actual[2].ToVector<int32_t>(), *expected[2].ToVector<int32_t>());
}

// Runs with one block per image, and with one block for all images.
TEST(DetectionCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const DetectionCase& test : Cases()) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      if (test.float32_only && dtype != DType::kFloat32) continue;
      std::optional<ScopedBlockLimit> limit;
      if (dtype == DType::kFloat64) limit.emplace(1);
      SCOPED_TRACE(test.name + ", " + std::string(DTypeName(dtype)));
      const auto expected = RunOn(test, dtype, Context::Cpu());
      const auto actual = RunOn(test, dtype, Context::Gpu(0));
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(actual[k].size(), expected[k].size());
        for (size_t i = 0; i < expected[k].size(); ++i) {
          ASSERT_NEAR(actual[k][i], expected[k][i], 1e-5 * (1 + std::abs(expected[k][i])))
              << "result " << k << ", element " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cooper
