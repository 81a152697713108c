// Tests the batches that modules accept. The tests correspond to functions of MXNet 1.9.1's
// test_module.py, which their comments name (docs/mxnet_tests.md).

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/function_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/metric/custom_metric.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "tests/module/module_fixtures.h"
#include "tests/module/parity_fixtures.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

// test_module_reshape: parameters and optimizer stay, and rescale_grad stays that of Bind.
TEST(ParityForwardTest, ReshapingKeepsParametersAndOptimizer) {
  const Symbol net =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  auto module = Make(net, {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {7, 4}}}}));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK(module->InitOptimizer({.optimizer_params = {{"learning_rate", "1"}}}));
  float bias = 0;
  for (int64_t rows : {7, 14, 21}) {
    if (rows > 7) {
      COOPER_ASSERT_OK(module->Reshape({{.name = "data", .shape = {rows, 4}}}, {}));
    }
    COOPER_ASSERT_OK(module->Forward({.data = {RandomArray({rows, 4}, 1)}}));
    COOPER_ASSERT_OK(module->Backward({*NDArray::Full({rows, 5}, 1)}));
    COOPER_ASSERT_OK(module->Update());
    EXPECT_EQ((*module->GetOutputs())[0].shape(), Shape({rows, 5}));
    // The gradient is a sum over rows, divided by the batch size 7 of Bind.
    bias -= static_cast<float>(rows) / 7;
    EXPECT_THAT(Floats(module->GetParams()->args.at("fc_bias")), Each(FloatNear(bias, 1e-6f)));
  }
}

// Returns the states of two LSTM layers after `length` steps, and the names of the initial states.
std::pair<Symbol, std::vector<std::string>> LastStates(int length) {
  SequentialRNNCell stack;
  for (const char* prefix : {"lstm_l0_", "lstm_l1_"}) {
    COOPER_EXPECT_OK(stack.Add(std::make_shared<LSTMCell>(6, LSTMCellOptions{.prefix = prefix})));
  }
  const std::vector<Symbol> begin = *stack.BeginState(VariableStates());
  auto unrolled = stack.Unroll(length, Symbol::Variable("data"), {.begin_state = begin});
  EXPECT_TRUE(unrolled.ok()) << unrolled.status();
  std::vector<std::string> names;
  names.reserve(begin.size());
  for (const Symbol& state : begin) names.push_back(state.name());
  return {*Symbol::Group(unrolled->states), names};
}

std::unique_ptr<Module> BoundStates(int length) {
  const auto [symbol, names] = LastStates(length);
  auto module =
      Make(symbol, {.label_names = {}, .compute = {.contexts = Cpus(2), .state_names = names}});
  COOPER_EXPECT_OK(
      module->Bind({.data_shapes = {{.name = "data", .shape = {5, length, 3}, .layout = "NTC"}},
                    .for_training = false}));
  COOPER_EXPECT_OK(module->InitParams({.initializer = init::Uniform(0.5), .seed = 2}));
  return module;
}

// test_module_states: states can be set to a value or to the last batch's outputs, on several
// contexts, and the next batch starts from them. Two halves of a sequence equal the whole.
TEST(ParityForwardTest, StatesCarryOverToTheNextBatch) {
  auto module = BoundStates(4);
  const auto outputs = [](Module& m) {
    std::vector<std::vector<float>> values;
    const auto arrays = *m.GetOutputs();
    for (const NDArray& array : arrays) values.push_back(Floats(array));
    return values;
  };
  const DataBatch zeros = {.data = {*NDArray::Zeros({5, 4, 3})}};
  COOPER_ASSERT_OK(module->SetStates(1));
  COOPER_ASSERT_OK(module->Forward(zeros));
  const auto first = outputs(*module);
  COOPER_ASSERT_OK(module->SetStates(*module->GetOutputs()));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> carried, module->GetStates());
  ASSERT_EQ(carried.size(), 4u);
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(Floats(carried[k]), first[k]);
  COOPER_ASSERT_OK(module->Forward(zeros));
  const auto second = outputs(*module);
  for (size_t k = 0; k < 4; ++k) EXPECT_NE(second[k], first[k]);

  const NDArray whole = RandomArray({5, 8, 3}, 7);
  const std::vector<float> values = Floats(whole);
  auto long_module = BoundStates(8);
  COOPER_ASSERT_OK(long_module->SetStates(0));
  COOPER_ASSERT_OK(long_module->Forward({.data = {whole}}));
  COOPER_ASSERT_OK(module->SetStates(0));
  for (int half = 0; half < 2; ++half) {
    std::vector<float> steps;
    for (int row = 0; row < 5; ++row) {
      const auto begin = values.begin() + (row * 8 + half * 4) * 3;
      steps.insert(steps.end(), begin, begin + 4 * 3);
    }
    COOPER_ASSERT_OK(module->Forward({.data = {*NDArray::FromVector({5, 4, 3}, steps)}}));
    COOPER_ASSERT_OK(module->SetStates(*module->GetOutputs()));
  }
  const auto expected = outputs(*long_module);
  const auto got = outputs(*module);
  // The halves compute the same sums of 6 products below 1 as the whole, from equally rounded
  // states.
  for (size_t k = 0; k < 4; ++k) EXPECT_THAT(got[k], Pointwise(FloatNear(1e-6f), expected[k]));
}

// Returns two images -> convolution -> pooling -> sum over all but the batch, and both sums -> 10
// classes: no parameter depends on the images' sizes.
Symbol TwoImages() {
  const auto branch = [](const char* data, const char* kernel, const char* stride,
                         const char* pool_type) {
    const Symbol conv =
        Op("Convolution", {.inputs = {Symbol::Variable(data)},
                           .attrs = {{"kernel", kernel}, {"stride", stride}, {"num_filter", "2"}}});
    const Symbol pool = Op(
        "Pooling", {.inputs = {conv}, .attrs = {{"kernel", "(2, 2)"}, {"pool_type", pool_type}}});
    return Op("sum", {.inputs = {Op("Flatten", {.inputs = {pool}})}, .attrs = {{"axis", "1"}}});
  };
  const Symbol sum = Op("elemwise_add", {.inputs = {branch("data1", "(2, 2)", "(2, 2)", "avg"),
                                                    branch("data2", "(3, 3)", "(1, 1)", "max")}});
  const Symbol fc = Op("FullyConnected", {.inputs = {sum}, .attrs = {{"num_hidden", "10"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

DataBatch Images(int64_t rows, const Shape& first, const Shape& second) {
  const auto images = [rows](const Shape& size, uint64_t seed) {
    return RandomArray({rows, 3, size[0], size[1]}, seed);
  };
  return {.data = {images(first, 1), images(second, 2)}, .label = {Classes(rows, 10, 3)}};
}

std::unique_ptr<Module> BoundImages(const DataBatch& like) {
  NameManager names;
  auto module = Make(TwoImages(), {.data_names = {"data1", "data2"}});
  COOPER_EXPECT_OK(module->Bind(
      {.data_shapes = {{.name = "data1", .shape = like.data[0].shape()},
                       {.name = "data2", .shape = like.data[1].shape()}},
       .label_shapes = {
           {.name = "softmax_label", .shape = like.label[0].shape(), .layout = "N"}}}));
  COOPER_EXPECT_OK(module->InitParams({.initializer = init::Xavier()}));
  return module;
}

// test_forward_reshape: batches and images of other sizes are trained without rebinding by the
// caller, then scored, and with force_rebind predicted.
TEST(ParityForwardTest, EveryBatchMayHaveShapesOfItsOwn) {
  const DataBatch first = Images(6, {16, 16}, {8, 8});
  auto module = BoundImages(first);
  COOPER_ASSERT_OK(module->InitOptimizer());
  for (const DataBatch& batch :
       {first, Images(3, {16, 16}, {8, 8}), Images(12, {16, 16}, {8, 8}),
        Images(12, {30, 30}, {8, 16}), Images(5, {7, 10}, {6, 4}), first}) {
    // A module that was bound with these shapes gives the expected outputs.
    auto fresh = BoundImages(batch);
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, module->GetParams());
    COOPER_ASSERT_OK(fresh->SetParams(params.args, params.auxs));
    COOPER_ASSERT_OK(fresh->ForwardBackward(batch));
    COOPER_ASSERT_OK(module->ForwardBackward(batch));
    const int64_t rows = batch.data[0].shape()[0];
    EXPECT_EQ((*module->GetOutputs())[0].shape(), Shape({rows, 10}));
    EXPECT_EQ(Floats((*module->GetOutputs())[0]), Floats((*fresh->GetOutputs())[0]));
    EXPECT_EQ(Floats(*module->GetGrad("convolution0_weight")),
              Floats(*fresh->GetGrad("convolution0_weight")));
    COOPER_ASSERT_OK(module->Update());
  }

  const DataBatch other = Images(15, {9, 9}, {5, 10});
  const NamedSources images = {{"data1", other.data[0]}, {"data2", other.data[1]}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto labeled,
      NDArrayIter::Create(images, {{"softmax_label", other.label[0]}}, {.batch_size = 5}));
  const auto accuracy = Accuracy({});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, module->Score(*labeled, *accuracy));
  ASSERT_EQ(scores.size(), 1u);

  COOPER_ASSERT_OK_AND_ASSIGN(auto unlabeled, NDArrayIter::Create(images, {}));
  COOPER_ASSERT_OK(module->Bind(
      {.data_shapes = unlabeled->provide_data(), .for_training = false, .force_rebind = true}));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs, module->Predict(*unlabeled));
  EXPECT_EQ(outputs[0].shape(), Shape({15, 10}));
}

// test_forward_types: a batch may be data alone, of any shape that the graph takes; and an array
// can be predicted without an iterator.
TEST(ParityForwardTest, ABatchMayBeDataAlone) {
  const Symbol twice =
      Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "2"}}});
  auto module = Make(twice, {.label_names = {}});
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {1, 6}}}}));
  COOPER_ASSERT_OK(module->InitParams());
  for (const Shape& shape : {Shape({1, 6}), Shape({3, 5}), Shape({2, 2, 2})}) {
    COOPER_ASSERT_OK(module->Forward({.data = {*NDArray::Full(shape, 1.5)}}));
    EXPECT_EQ((*module->GetOutputs())[0].shape(), shape);
    EXPECT_THAT(Floats((*module->GetOutputs())[0]), Each(3));
  }
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs,
                                module->Predict(*NDArray::Full({1, 6}, 1.5, dtype)));
    EXPECT_EQ(outputs[0].shape(), Shape({1, 6}));
    EXPECT_THAT(Floats(outputs[0]), Each(3));
  }
}

// Serves batches 0, 1, ... in one pair of arrays: Next overwrites the previous batch.
class OverwritingIter : public DataIter {
 public:
  explicit OverwritingIter(int num_batches) : num_batches_(num_batches) {}

  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (next_ == num_batches_) return std::nullopt;
    COOPER_EXPECT_OK(data_.Fill(next_));
    COOPER_EXPECT_OK(label_.Fill(next_));
    ++next_;
    return DataBatch{.data = {data_}, .label = {label_}};
  }
  absl::Status Reset() override {
    next_ = 0;
    return absl::OkStatus();
  }
  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  int64_t batch_size() const override { return 1; }

 private:
  const int num_batches_;
  int next_ = 0;
  const NDArray data_ = *NDArray::Zeros({1, 1});
  const NDArray label_ = *NDArray::Zeros({1});
  const std::vector<DataDesc> provide_data_ = {{.name = "data", .shape = {1, 1}}};
  const std::vector<DataDesc> provide_label_ = {{.name = "label", .shape = {1}}};
};

// test_reference_single_batch_during_fit: Fit has finished with a batch and its labels when it
// calls Next.
TEST(ParityForwardTest, FitIsDoneWithABatchBeforeItAsksForTheNext) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto module,
      FunctionModule::Create({.label_names = {"label"},
                              .forward = [](const DataBatch& batch, bool)
                                  -> absl::StatusOr<std::vector<NDArray>> { return batch.data; }}));
  std::vector<float> labels, predictions;
  const auto metric = CustomMetric(
      [&](const NDArray& label, const NDArray& prediction) -> absl::StatusOr<SumAndCount> {
        labels.push_back(Floats(label)[0]);
        predictions.push_back(Floats(prediction)[0]);
        return SumAndCount{};
      });
  OverwritingIter iter(3);
  COOPER_ASSERT_OK(module->Fit(iter, {.eval_metric = metric.get(), .num_epoch = 2}));
  EXPECT_THAT(labels, ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(predictions, labels);
  labels.clear();
  COOPER_ASSERT_OK(module->Score(iter, *metric));
  EXPECT_THAT(labels, ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace cooper
