#include "module/predict/predictor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/parameters/checkpoint.h"
#include "module/predict/lru_map.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kFeatures = 4;

ArrayMap TwoLayersParams() {
  return {{"fc1_weight", RandomArray({5, kFeatures}, 1)},
          {"fc1_bias", RandomArray({5}, 2)},
          {"fc2_weight", RandomArray({3, 5}, 3)},
          {"fc2_bias", RandomArray({3}, 4)},
          {"of_another_network", RandomArray({7}, 5)}};
}

std::unique_ptr<const Predictor> TwoLayersPredictor(PredictorOptions options = {}) {
  auto predictor = Predictor::Create(TwoLayers(), TwoLayersParams(), {}, std::move(options));
  EXPECT_TRUE(predictor.ok()) << predictor.status();
  return *std::move(predictor);
}

// Returns the outputs of a separate executor.
std::vector<float> Expected(const NDArray& data) {
  BindOptions options{.grad_req = WriteReq::kNull, .args = TwoLayersParams()};
  options.args.erase("of_another_network");
  options.args["data"] = data;
  auto executor = Executor::SimpleBind(TwoLayers(), options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  EXPECT_TRUE((*executor)->Forward(false).ok());
  return Floats((*(*executor)->outputs())[0]);
}

TEST(PredictorTest, NeedsNoLabels) {
  const auto predictor = TwoLayersPredictor();
  EXPECT_THAT(*predictor->input_names(), ElementsAre("data"));
  for (int64_t rows : {3, 1, 5}) {
    const NDArray data = RandomArray({rows, kFeatures}, 10 + rows);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
    ASSERT_EQ(outputs.size(), 1);
    EXPECT_EQ(outputs[0].shape(), Shape({rows, 3}));
    EXPECT_EQ(Floats(outputs[0]), Expected(data));
  }
}

TEST(PredictorTest, GivesAsManyRowsAsAMaskKeeps) {
  const Symbol data = Symbol::Variable("data");
  const Symbol first =
      Op("slice_axis", {.inputs = {data}, .attrs = {{"axis", "1"}, {"begin", "0"}, {"end", "1"}}});
  const Symbol index = Op("Reshape", {.inputs = {first}, .attrs = {{"shape", "(-1,)"}}});
  const Symbol net = Op("_contrib_boolean_mask", {.name = "mask", .inputs = {data, index}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(net, {}));
  const auto predict = [&](const std::vector<float>& rows) {
    const int64_t n = static_cast<int64_t>(rows.size()) / 2;
    const auto outputs = predictor->Predict({{"data", *NDArray::FromVector<float>({n, 2}, rows)}});
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return (*outputs)[0];
  };
  const NDArray two = predict({1, 2, 0, 3, 4, 5}), none = predict({0, 2, 0, 3, 0, 4});
  EXPECT_EQ(two.shape(), Shape({2, 2}));
  EXPECT_THAT(Floats(two), ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(none.shape(), Shape({0, 2}));
}

TEST(PredictorTest, OutputsLast) {
  const auto predictor = TwoLayersPredictor();
  const NDArray data = RandomArray({2, kFeatures}, 10);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto first, predictor->Predict({{"data", data}}));
  COOPER_ASSERT_OK(predictor->Predict({{"data", RandomArray({2, kFeatures}, 11)}}).status());
  EXPECT_EQ(Floats(first[0]), Expected(data));
}

TEST(PredictorTest, LabelsThatAreComputedAreCut) {
  // Language models have (batch_size, length) labels, and one row of scores for each.
  const Symbol scores =
      Op("FullyConnected", {.name = "fc",
                            .inputs = {Op("Reshape", {.inputs = {Symbol::Variable("data")},
                                                      .attrs = {{"shape", "(-1, 4)"}}})},
                            .attrs = {{"num_hidden", "3"}}});
  const Symbol label =
      Op("Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  const Symbol net = Op("SoftmaxOutput", {.name = "softmax", .inputs = {scores, label}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                              Predictor::Create(net, {{"fc_weight", RandomArray({3, 4}, 1)},
                                                      {"fc_bias", RandomArray({3}, 2)}}));
  EXPECT_THAT(*predictor->input_names(), ElementsAre("data"));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs,
                              predictor->Predict({{"data", RandomArray({2, 6, 4}, 3)}}));
  EXPECT_EQ(outputs[0].shape(), Shape({12, 3}));
}

// The loss gets a variable in place of its computed label. The label is also an output, so its own
// variable stays, with its name.
TEST(PredictorTest, ALabelThatIsCutTakesNoNameOfAnother) {
  const Symbol label =
      Op("Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  const Symbol net =
      Op("SoftmaxOutput", {.name = "softmax", .inputs = {Symbol::Variable("data"), label}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both,
                              Symbol::Group({net, Op("BlockGrad", {.inputs = {label}})}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(both, {}));
  EXPECT_THAT(*predictor->input_names(), ElementsAre("data", "softmax_label"));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto outputs,
      predictor->Predict({{"data", RandomArray({2, 3}, 3)},
                          {"softmax_label", *NDArray::FromVector<float>({1, 2}, {2, 1})}}));
  EXPECT_EQ(Floats(outputs[1]), std::vector<float>({2, 1}));
}

TEST(PredictorTest, PreparesWithLabelsAsItPredictsWithThem) {
  const auto predictor = TwoLayersPredictor();
  EXPECT_EQ(predictor->Prepare({{"data", {2, kFeatures}}, {"softmax_label", {2}}})->size(), 1);
  EXPECT_EQ(
      predictor->PrepareInputs({}, {{"data", {2, kFeatures}}, {"softmax_label", {2}}})->size(), 1);
}

TEST(PredictorTest, ALabelThatIsReadElsewhereIsAnInput) {
  const Symbol label = Symbol::Variable("label");
  const Symbol loss =
      Op("LinearRegressionOutput", {.name = "loss", .inputs = {Symbol::Variable("data"), label}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({loss, label}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(both, {}));
  EXPECT_THAT(*predictor->input_names(), ElementsAre("data", "label"));
}

// The output depends on the label.
TEST(PredictorTest, ALabelOfWhichTheProbabilityIsAskedIsAnInput) {
  const Symbol network =
      Op("_fc_softmax_label_probability", {.name = "p",
                                           .inputs = {Symbol::Variable("data")},
                                           .named = {{"label", Symbol::Variable("label")}},
                                           .attrs = {{"num_hidden", "3"}}});
  const NDArray weight = RandomArray({3, kFeatures}, 1), bias = RandomArray({3}, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                              Predictor::Create(network, {{"p_weight", weight}, {"p_bias", bias}}));
  EXPECT_THAT(*predictor->input_names(), ElementsAre("data", "label"));
  const NDArray data = RandomArray({1, kFeatures}, 3);
  float sum = 0;
  for (const float label : {0, 1, 2}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto outputs,
        predictor->Predict({{"data", data}, {"label", *NDArray::FromVector<float>({1}, {label})}}));
    sum += Floats(outputs[0])[0];
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

// A predictor's threads share parameters, and an executor gets the caller's arrays.
TEST(PredictorTest, BatchNormsWriteNoParameter) {
  const AttrMap sync = {{"key", "k"}, {"ndev", "2"}};
  const std::pair<const char*, AttrMap> cases[] = {
      {"BatchNorm", {}},
      {"BatchNorm_v1", {}},
      {"BatchNorm_v1", {{"output_mean_var", "True"}}},
      {"_contrib_SyncBatchNorm", sync},
      {"_contrib_SyncBatchNorm", {{"key", "k"}, {"output_mean_var", "True"}}}};
  for (const auto& [op, attrs] : cases) {
    const Symbol network =
        Op(op, {.name = "bn", .inputs = {Symbol::Variable("data")}, .attrs = attrs});
    const NDArray gamma = *NDArray::Full({2}, 3.0), beta = RandomArray({2}, 1);
    const ArrayMap auxs = {{"bn_moving_mean", RandomArray({2}, 2)},
                           {"bn_moving_var", *NDArray::Full({2}, 0.7)}};
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto predictor,
        Predictor::Create(network, {{"bn_gamma", gamma}, {"bn_beta", beta}}, auxs));
    const NDArray data = RandomArray({4, 2, 3}, 4);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
    EXPECT_THAT(Floats(gamma), ElementsAre(3, 3)) << op;
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto executor,
        Executor::SimpleBind(network,
                             {.grad_req = WriteReq::kNull,
                              .args = {{"data", data}, {"bn_gamma", gamma}, {"bn_beta", beta}},
                              .auxs = auxs}));
    COOPER_ASSERT_OK(executor->Forward(false));
    EXPECT_EQ(Floats(outputs[0]), Floats((*executor->outputs())[0])) << op;
    EXPECT_THAT(Floats(gamma), ElementsAre(3, 3)) << op;
    COOPER_ASSERT_OK(executor->Forward(true));
    EXPECT_THAT(Floats(gamma), ElementsAre(1, 1)) << op;
  }
}

TEST(PredictorTest, ComputesInnerOutputs) {
  const auto predictor = TwoLayersPredictor({.output_names = {"act_output", "softmax_output"}});
  const NDArray data = RandomArray({2, kFeatures}, 10);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
  ASSERT_EQ(outputs.size(), 2);
  EXPECT_EQ(outputs[0].shape(), Shape({2, 5}));
  EXPECT_EQ(Floats(outputs[1]), Expected(data));
  EXPECT_THAT(
      Predictor::Create(TwoLayers(), TwoLayersParams(), {}, {.output_names = {"fc3_output"}}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("fc3_output")));
}

TEST(PredictorTest, AnInnerOutputIsNamedByOneNode) {
  const Symbol once =
      Op("relu", {.name = "r", .inputs = {Op("abs", {.inputs = {Symbol::Variable("data")}})}});
  const Symbol twice = Op("tanh", {.name = "r", .inputs = {once}});
  EXPECT_THAT(Predictor::Create(twice, {}, {}, {.output_names = {"r_output"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("two outputs are called 'r_output': output 0 of relu 'r'")));
  COOPER_EXPECT_OK(Predictor::Create(twice, {}).status());
}

TEST(PredictorTest, PrepareSaysWhatOutputsWillBe) {
  const auto predictor = TwoLayersPredictor();
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs,
                              predictor->Prepare({{"data", PartialShape({6, kFeatures})}}));
  EXPECT_THAT(outputs, ElementsAre(DataDesc{
                           .name = "softmax_output", .shape = Shape({6, 3}), .layout = ""}));
}

TEST(PredictorTest, AWrongRequestIsToldAndLeavesTheNextAlone) {
  const auto predictor = TwoLayersPredictor();
  const NDArray data = RandomArray({2, kFeatures}, 10);
  const auto expect_error = [&](const ArrayMap& inputs, const auto& message) {
    EXPECT_THAT(predictor->Predict(inputs), StatusIs(absl::StatusCode::kInvalidArgument, message));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
    EXPECT_EQ(Floats(outputs[0]), Expected(data));
  };
  expect_error({}, HasSubstr("input 'data' is missing"));
  expect_error({{"data", data}, {"dat", data}},
               AllOf(HasSubstr("there is no input 'dat'"), HasSubstr("did you mean")));
  expect_error({{"data", NDArray()}}, HasSubstr("'data' is a null array"));
  expect_error({{"data", *NDArray::Zeros({0, kFeatures})}}, HasSubstr("'data' has the shape"));
  expect_error({{"data", *data.AsType(DType::kFloat64)}},
               AllOf(HasSubstr("'data' is (2, 4) float64"), HasSubstr("expected float32")));
  expect_error({{"data", RandomArray({2, kFeatures + 1}, 1)}}, HasSubstr("fc1"));
}

TEST(PredictorTest, LabelsMayBeGiven) {
  const auto predictor = TwoLayersPredictor();
  const NDArray data = RandomArray({2, kFeatures}, 10);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto outputs,
      predictor->Predict({{"data", data}, {"softmax_label", RandomArray({9, 9}, 1)}}));
  EXPECT_EQ(Floats(outputs[0]), Expected(data));
}

// The cache of networks keeps at least one network for each compiled program, which would be
// useless without it.
TEST(PredictorTest, KeepsTheNetworksOfItsPrograms) {
  int calls = 0;
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                              Predictor::Create(
                                  [&](const BucketKey&) {
                                    ++calls;
                                    return TwoLayers();
                                  },
                                  TwoLayersParams(), {}, {.max_programs = 4, .max_networks = 1}));
  const NDArray data = RandomArray({2, kFeatures}, 10);
  for (int round = 0; round < 2; ++round) {
    for (int64_t key = 0; key < 4; ++key) {
      COOPER_EXPECT_OK(predictor->Predict(key, {{"data", data}}).status());
    }
  }
  EXPECT_EQ(calls, 4);
}

TEST(PredictorTest, ThreadsGetWhatOneGets) {
  const auto predictor = TwoLayersPredictor({.max_programs = 3});
  constexpr int kThreads = 16, kRequests = 40;
  std::vector<std::vector<float>> expected;
  expected.reserve(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    expected.push_back(Expected(RandomArray({1 + i % 5, kFeatures}, i)));
  }
  std::vector<int> right(kThreads, 0);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < kRequests; ++k) {
        const int i = (k + t * 7) % kRequests;
        const auto outputs = predictor->Predict({{"data", RandomArray({1 + i % 5, kFeatures}, i)}});
        right[t] += outputs.ok() && Floats((*outputs)[0]) == expected[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kRequests));
}

// Outputs of more than a megabyte come from the predictor's own pool (OutputArrays).
TEST(PredictorTest, LargeResultsAreEachCallersAlone) {
  constexpr int64_t kOut = 3000;
  const Symbol net =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3000"}}});
  const NDArray weight = RandomArray({kOut, kFeatures}, 1), bias = RandomArray({kOut}, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                              Predictor::Create(net, {{"fc_weight", weight}, {"fc_bias", bias}}));
  // In a batch of equal rows each row equals that of the same data alone.
  const auto rows_of = [](int64_t rows, float value) {
    return *NDArray::Full({rows, kFeatures}, value);
  };
  constexpr int kThreads = 16, kRequests = 20;
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < kRequests; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto outputs, predictor->Predict({{"data", rows_of(100, static_cast<float>(i))}}));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray row, outputs[0].Slice(99, 100));
    expected.push_back(Floats(row));
  }
  std::vector<int> right(kThreads, 0);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      NDArray held;  // the previous result, whose memory must not be reused
      int of_held = 0;
      for (int k = 0; k < kRequests; ++k) {
        const int i = (k + t * 7) % kRequests;
        const auto outputs =
            predictor->Predict({{"data", rows_of(100 + 20 * (k % 3), static_cast<float>(i))}});
        if (!outputs.ok()) return;
        const auto is_right = [&](const NDArray& result, int request) {
          return Floats(*result.Slice(99, 100)) == expected[request];
        };
        right[t] += is_right((*outputs)[0], i) && (k == 0 || is_right(held, of_held));
        held = (*outputs)[0];
        of_held = i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kRequests));
}

TEST(PredictorTest, ANetworkForEachKey) {
  int calls = 0;
  const auto network = [&calls](const BucketKey& key) -> absl::StatusOr<Symbol> {
    ++calls;
    if (!key.is_int()) return absl::InvalidArgumentError("no such bucket");
    return MeanOverTime(/*swapped=*/key.int_value() > 5);
  };
  const ArrayMap params = {{"a_weight", RandomArray({1, 3}, 1)},
                           {"b_weight", RandomArray({1, 3}, 2)},
                           {"fc_weight", RandomArray({2, 3}, 3)},
                           {"fc_bias", RandomArray({2}, 4)}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(network, params));
  const NDArray rows = *NDArray::Full({2, 4}, 0.5);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto four, predictor->Predict(4, {{"data", rows}}));
  // The mean of equal values does not depend on their number.
  COOPER_ASSERT_OK_AND_ASSIGN(const auto eight,
                              predictor->Predict(8, {{"data", *NDArray::Full({2, 8}, 0.5)}}));
  EXPECT_EQ(Floats(four[0]), Floats(eight[0]));
  COOPER_ASSERT_OK(predictor->Predict(8, {{"data", rows}}).status());
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(predictor->Predict("x", {{"data", rows}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no such bucket")));
}

// Takes the sym_gen of a BucketingModule. Automatic names start anew for each key here too.
TEST(PredictorTest, TakesTheSymGenOfATrainedModule) {
  const SymGen sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    const Symbol x = Symbol::Variable("x");
    const Symbol fc = Op("FullyConnected", {.inputs = {x}, .attrs = {{"num_hidden", 2}}});
    return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = key.ToString(), .inputs = {fc}}),
                        .data_names = {"x"}};
  };
  const ArrayMap params = {{"fullyconnected0_weight", RandomArray({2, 3}, 3)},
                           {"fullyconnected0_bias", RandomArray({2}, 4)}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(sym_gen, params));
  const ArrayMap inputs = {{"x", RandomArray({4, 3}, 5)}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto a, predictor->Predict("a", inputs));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto b, predictor->Predict("b", inputs));
  EXPECT_EQ(Floats(a[0]), Floats(b[0]));
  EXPECT_THAT(predictor->input_names("c"), IsOkAndHolds(ElementsAre("x")));
}

TEST(PredictorTest, AKeyOfAnotherKindIsAStatus) {
  const auto network = [](const BucketKey& key) -> absl::StatusOr<Symbol> {
    return MeanOverTime(/*swapped=*/key.int_value() > 5);
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(network, ArrayMap()));
  EXPECT_THAT(predictor->Predict("long", {{"data", *NDArray::Full({2, 4}, 0.5)}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("another kind than the string 'long'")));
}

TEST(PredictorTest, LoadsCheckpoints) {
  const std::string prefix = testing::TempDir() + "/predictor";
  COOPER_ASSERT_OK(SaveCheckpoint(prefix, 3, TwoLayers(), TwoLayersParams(), {}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Load(prefix, 3));
  const NDArray data = RandomArray({2, kFeatures}, 10);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
  EXPECT_EQ(Floats(outputs[0]), Expected(data));
  EXPECT_THAT(Predictor::Load(prefix, 4),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("predictor-0004.params")));
}

TEST(PredictorTest, RefusesWhatTakesTooMuch) {
  const auto predictor = TwoLayersPredictor({.max_bytes = 4096});
  COOPER_ASSERT_OK(predictor->Predict({{"data", RandomArray({2, kFeatures}, 1)}}).status());
  EXPECT_THAT(predictor->Predict({{"data", RandomArray({2000, kFeatures}, 1)}}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("4096")));
  EXPECT_THAT(Predictor::Create(TwoLayers(), {}, {}, {.max_programs = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_programs is 0")));
}

TEST(LruMapTest, KeepsWhatWasAskedForLast) {
  LruMap<int> map(2);
  map.Insert("a", 1);
  map.Insert("b", 2);
  EXPECT_EQ(*map.Find("a"), 1);
  map.Insert("c", 3);
  EXPECT_EQ(map.Find("b"), nullptr);
  map.Insert("a", 4);
  EXPECT_EQ(*map.Find("a"), 4);
  EXPECT_EQ(map.entries().size(), 2);
}

}  // namespace
}  // namespace cooper
