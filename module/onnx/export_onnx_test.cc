#include "module/onnx/export_onnx.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/onnx/onnx_model.h"
#include "module/onnx/symbolic_shape.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/attr_values.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Symbol Op(const char* op, const std::string& name, std::vector<Symbol> inputs,
          AttrValues attrs = {}) {
  return Symbol::Keep(
      Symbol::Create(op, {.name = name, .inputs = std::move(inputs), .attrs = std::move(attrs)}));
}

Symbol Data() { return Symbol::Variable("data"); }

std::vector<std::string> OpsOf(const OnnxModel& model) {
  std::vector<std::string> ops;
  for (const OnnxNode& node : model.nodes) ops.push_back(node.op_type);
  return ops;
}

template <typename T>
std::vector<std::string> NamesOf(const std::vector<T>& parts) {
  std::vector<std::string> names;
  for (const T& part : parts) names.push_back(part.name);
  return names;
}

NDArray Initializer(const OnnxModel& model, const std::string& name) {
  for (const OnnxTensor& tensor : model.initializers) {
    if (tensor.name == name) return tensor.array;
  }
  return NDArray();
}

std::string DimsText(const OnnxValueInfo& value) {
  return absl::StrJoin(value.dims, " ", [](std::string* out, const OnnxDim& dim) {
    absl::StrAppend(out, dim.symbol.empty() ? absl::StrCat(dim.extent) : dim.symbol);
  });
}

NDArray Ones(const Shape& shape) { return *NDArray::Full(shape, 1); }

ArrayMap Dense() { return {{"fc_weight", Ones({3, 8})}, {"fc_bias", Ones({3})}}; }

Symbol DenseSoftmax() {
  return Op("SoftmaxOutput", "softmax",
            {Op("FullyConnected", "fc", {Data()}, {{"num_hidden", 3}})});
}

TEST(ExportOnnxTest, LossesBecomePredictionsAndLabelsGo) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(DenseSoftmax(), Dense(), {}, {{"data", {{"batch"}, {"", 8}}}}));
  EXPECT_EQ(model.opset, 17);
  EXPECT_THAT(OpsOf(model), ElementsAre("Gemm", "Softmax"));
  EXPECT_THAT(NamesOf(model.inputs), ElementsAre("data"));
  EXPECT_THAT(NamesOf(model.outputs), ElementsAre("softmax_output"));
  EXPECT_THAT(NamesOf(model.initializers), ElementsAre("fc_weight", "fc_bias"));
  EXPECT_EQ(DimsText(model.inputs[0]), "batch 8");
  EXPECT_EQ(DimsText(model.outputs[0]), "batch 3");
  EXPECT_THAT(model.nodes[1].outputs, ElementsAre("softmax_output"));
}

TEST(ExportOnnxTest, ArraysAreShared) {
  const ArrayMap args = Dense();
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(DenseSoftmax(), args, {}, {{"data", {{"batch"}, {"", 8}}}}));
  EXPECT_EQ(model.initializers[0].array.raw_data(), args.at("fc_weight").raw_data());
}

TEST(ExportOnnxTest, OutputsOfAnyNode) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(DenseSoftmax(), Dense(), {}, {{"data", {{"", 2}, {"", 8}}}},
                    {.output_names = {"fc_output", "data", "fc_output"}}));
  EXPECT_THAT(OpsOf(model), ElementsAre("Gemm", "Identity", "Identity"));
  EXPECT_THAT(NamesOf(model.outputs), ElementsAre("fc_output", "data_output", "fc_output_1"));
}

TEST(ExportOnnxTest, AFixedGammaIsOne) {
  const Symbol norm = Op("BatchNorm", "bn", {Data()});
  const ArrayMap args = {{"bn_gamma", *NDArray::Full({4}, 7)}, {"bn_beta", Ones({4})}};
  const ArrayMap auxs = {{"bn_moving_mean", Ones({4})}, {"bn_moving_var", Ones({4})}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(norm, args, auxs, {{"data", {{"batch"}, {"", 4}, {"", 5}, {"", 5}}}}));
  EXPECT_THAT(NamesOf(model.initializers),
              ElementsAre("bn_beta", "bn_moving_mean", "bn_moving_var", "bn/gamma"));
  EXPECT_THAT(Initializer(model, "bn/gamma").ToVector<float>(),
              IsOkAndHolds(ElementsAre(1, 1, 1, 1)));
}

TEST(ExportOnnxTest, LayerNormIsOneNodeFromOpset17On) {
  const Symbol norm = Op("LayerNorm", "ln", {Data()});
  const ArrayMap args = {{"ln_gamma", Ones({4})}, {"ln_beta", Ones({4})}};
  const InputDims inputs = {{"data", {{"batch"}, {"", 4}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const OnnxModel now, MakeOnnxModel(norm, args, {}, inputs));
  EXPECT_THAT(OpsOf(now), ElementsAre("LayerNormalization"));
  COOPER_ASSERT_OK_AND_ASSIGN(const OnnxModel old,
                              MakeOnnxModel(norm, args, {}, inputs, {.opset = 13}));
  EXPECT_THAT(OpsOf(old), ElementsAre("ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt",
                                      "Div", "Mul", "Add"));
}

// An axis that is listed twice is reversed twice.
TEST(ExportOnnxTest, ReversesAxesThatAreListedAnOddNumberOfTimes) {
  const InputDims inputs = {{"data", {{"batch"}, {"", 4}, {"", 5}}}};
  const auto reverse = [&inputs](const char* axes) {
    return MakeOnnxModel(Op("reverse", "reverse", {Data()}, {{"axis", axes}}), {}, {}, inputs);
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const OnnxModel once, reverse("(2, 1, -1)"));
  EXPECT_THAT(OpsOf(once), ElementsAre("Slice"));
  EXPECT_THAT(Initializer(once, once.nodes[0].inputs[3]).ToVector<int64_t>(),
              IsOkAndHolds(ElementsAre(1)));
  COOPER_ASSERT_OK_AND_ASSIGN(const OnnxModel never, reverse("(1, 1)"));
  EXPECT_THAT(OpsOf(never), ElementsAre("Identity"));
}

// The gates of an lstm are i f g o in cooper, i o f g in ONNX.
TEST(ExportOnnxTest, GatesOfAnLstm) {
  std::vector<float> parameters;
  for (int i = 0; i < 4 * (1 + 1 + 2); ++i) parameters.push_back(static_cast<float>(i));
  const Symbol rnn =
      Op("RNN", "rnn",
         {Data(), Symbol::Variable("w"), Op("_zeros", "h", {}, {{"shape", "(1, 0, 1)"}}),
          Op("_zeros", "c", {}, {{"shape", "(1, 0, 1)"}})},
         {{"mode", "lstm"}, {"state_size", 1}, {"num_layers", 1}});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray w, NDArray::FromVector<float>({16}, parameters));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(rnn, {{"w", w}}, {}, {{"data", {{"length"}, {"batch"}, {"", 1}}}}));
  EXPECT_THAT(OpsOf(model), ElementsAre("LSTM", "Squeeze"));
  EXPECT_THAT(model.nodes[0].inputs, ElementsAre("data", "rnn/W", "rnn/R", "rnn/B"));
  EXPECT_EQ(DimsText(model.outputs[0]), "length batch 1");
  EXPECT_THAT(Initializer(model, "rnn/W").ToVector<float>(), IsOkAndHolds(ElementsAre(0, 3, 1, 2)));
  EXPECT_THAT(Initializer(model, "rnn/R").ToVector<float>(), IsOkAndHolds(ElementsAre(4, 7, 5, 6)));
  EXPECT_THAT(Initializer(model, "rnn/B").ToVector<float>(),
              IsOkAndHolds(ElementsAre(8, 11, 9, 10, 12, 15, 13, 14)));
}

// An overlap of nms_threshold itself suppresses in cooper, and does not in ONNX.
TEST(ExportOnnxTest, ThresholdsOfSuppressions) {
  const Symbol detection = Op("_contrib_MultiBoxDetection", "det",
                              {Data(), Symbol::Variable("offsets"), Symbol::Variable("anchors")},
                              {{"nms_threshold", 0.25}});
  const Symbol nms = Op("_contrib_box_nms", "nms", {detection}, {{"overlap_thresh", 0.25}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(nms, {{"anchors", Ones({1, 5, 4})}}, {},
                    {{"data", {{"batch"}, {"", 3}, {"", 5}}}, {"offsets", {{"batch"}, {"", 20}}}}));
  EXPECT_EQ(DimsText(model.outputs[0]), "batch 5 6");
  std::vector<float> thresholds;
  for (const OnnxNode& node : model.nodes) {
    if (node.op_type != "NonMaxSuppression") continue;
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<float> threshold,
                                Initializer(model, node.inputs[3]).ToVector<float>());
    thresholds.push_back(threshold[0]);
  }
  EXPECT_THAT(thresholds, ElementsAre(std::nextafter(0.25F, 0.0F), 0.25F));
}

TEST(ExportOnnxTest, Refuses) {
  const InputDims rows = {{"data", {{"batch"}, {"", 8}}}};
  const Symbol clipped = Op(
      "RNN", "rnn", {Data(), Symbol::Variable("w"), Symbol::Variable("h"), Symbol::Variable("c")},
      {{"mode", "lstm"},
       {"state_size", 1},
       {"num_layers", 1},
       {"lstm_state_clip_min", -1},
       {"lstm_state_clip_max", 1}});
  struct Case {
    Symbol symbol;
    InputDims inputs;
    OnnxOptions options;
    absl::StatusCode code;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{
           {DenseSoftmax(),
            rows,
            {.opset = 12},
            absl::StatusCode::kInvalidArgument,
            "opset 12, expected 13 to 17"},
           {DenseSoftmax(), {}, {}, absl::StatusCode::kInvalidArgument, "input 'data' is missing"},
           {DenseSoftmax(),
            {{"data", {{"batch"}, {"", 9}}}},
            {},
            absl::StatusCode::kInvalidArgument,
            "FullyConnected 'fc'"},
           {DenseSoftmax(),
            rows,
            {.types = {{"dat", DType::kInt32}}},
            absl::StatusCode::kInvalidArgument,
            "types: there is no input 'dat'"},
           {Op("gammaln", "g", {Data()}),
            rows,
            {},
            absl::StatusCode::kUnimplemented,
            "gammaln 'g' cannot be exported to ONNX: ONNX has no operator for it"},
           {Op("_random_uniform_like", "r", {Data()}),
            rows,
            {},
            absl::StatusCode::kUnimplemented,
            "_random_uniform_like 'r' cannot be exported to ONNX: it draws random numbers"},
           {Op("Dropout", "d", {Data()}, {{"mode", "always"}}),
            rows,
            {},
            absl::StatusCode::kUnimplemented,
            "Dropout 'd' cannot be exported to ONNX: mode always"},
           {Op("topk", "t", {Data()}, {{"ret_typ", "mask"}}),
            rows,
            {},
            absl::StatusCode::kUnimplemented,
            "topk 't' cannot be exported to ONNX: ret_typ is mask"},
           {Op("Pooling", "p", {Data()}, {{"kernel", "(3,)"}, {"pooling_convention", "full"}}),
            {{"data", {{"batch"}, {"", 2}, {"length"}}}},
            {},
            absl::StatusCode::kUnimplemented,
            "Pooling 'p' cannot be exported to ONNX: the extents of an image, with this "
            "pooling_convention, must be numbers"},
           {Op("_contrib_box_nms", "nms", {Data()}),
            {{"data", {{"", 2}, {"boxes"}, {"", 6}}}},
            {},
            absl::StatusCode::kUnimplemented,
            "_contrib_box_nms 'nms' cannot be exported to ONNX: the extents of the boxes must be "
            "numbers"},
           {Op("_contrib_box_nms", "nms", {Data()}),
            {{"data", {{"batch"}, {"", 5}, {"", 6}}}},
            {.types = {{"data", DType::kFloat64}}},
            absl::StatusCode::kUnimplemented,
            "_contrib_box_nms 'nms' cannot be exported to ONNX: ONNX suppresses boxes of float32"},
           {Op("_contrib_box_nms", "nms", {Data()}, {{"overlap_thresh", -1}}),
            {{"data", {{"batch"}, {"", 5}, {"", 6}}}},
            {},
            absl::StatusCode::kUnimplemented,
            "_contrib_box_nms 'nms' cannot be exported to ONNX: overlap_thresh is below 0"},
           {Op("_contrib_MultiBoxDetection", "det",
               {Data(), Symbol::Variable("offsets"), Symbol::Variable("anchors")}),
            {{"data", {{"batch"}, {"", 1}, {"", 5}}},
             {"offsets", {{"batch"}, {"", 20}}},
             {"anchors", {{"", 1}, {"", 5}, {"", 4}}}},
            {},
            absl::StatusCode::kUnimplemented,
            "_contrib_MultiBoxDetection 'det' cannot be exported to ONNX: there is no class "
            "besides the background"},
           {clipped,
            {{"data", {{"", 5}, {"batch"}, {"", 1}}},
             {"h", {{"", 1}, {"batch"}, {"", 1}}},
             {"c", {{"", 1}, {"batch"}, {"", 1}}},
             {"w", {{"", 16}}}},
            {},
            absl::StatusCode::kUnimplemented,
            "RNN 'rnn' cannot be exported to ONNX: it clips the cell state"},
       }) {
    EXPECT_THAT(MakeOnnxModel(c.symbol, Dense(), {}, c.inputs, c.options),
                StatusIs(c.code, HasSubstr(c.message)));
  }
}

TEST(ExportOnnxTest, ARefusalWritesNothing) {
  const std::string path = ::testing::TempDir() + "/refused.onnx";
  COOPER_ASSERT_OK(WriteFileAtomically(path, "old"));
  EXPECT_FALSE(ExportOnnx(path, Op("erfinv", "e", {Data()}), {}, {}, {{"data", {{"", 2}}}}).ok());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  EXPECT_EQ(bytes, "old");
}

}  // namespace
}  // namespace cooper
