// Tests that Fit finds ids of words and classes that the network does not have, and accepts the
// values that MXNet's programs write where there is no id.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::unique_ptr<DataIter> Rows(const NDArray& data, const NDArray& label, int64_t batch_size = 4) {
  return *NDArrayIter::Create({{"data", data}}, {{"softmax_label", label}},
                              {.batch_size = batch_size});
}

FitOptions Options(int num_epoch = 1) {
  return {
      .progress = nullptr, .params = {.initializer = init::Uniform(0.5)}, .num_epoch = num_epoch};
}

void ExpectFit(BaseModule& module, DataIter& train, const FitOptions& options,
               const std::string& message) {
  const absl::Status status = module.Fit(train, options);
  if (message.empty()) {
    COOPER_EXPECT_OK(status);
  } else {
    EXPECT_THAT(status, StatusIs(kOutOfRange, HasSubstr(message)));
  }
}

// Returns words (batch_size, length) -> embed (7, 2) -> mean over time -> fc (3) -> softmax.
Symbol Classify(const Symbol& words, const AttrMap& softmax = {}) {
  const Symbol embed =
      Op("Embedding",
         {.name = "embed", .inputs = {words}, .attrs = {{"input_dim", "7"}, {"output_dim", "2"}}});
  const Symbol mean = Op("mean", {.name = "mean", .inputs = {embed}, .attrs = {{"axis", "1"}}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {mean}, .attrs = {{"num_hidden", "3"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}, .attrs = softmax});
}

Symbol Words(const AttrMap& softmax = {}) { return Classify(Symbol::Variable("data"), softmax); }

TEST(FitIdsTest, ThoseOutOfRangeAreTold) {
  struct Case {
    const char* name;
    float word, label;
    const char* message;
  };
  const Case cases[] = {
      {"Fits", 6, 2, ""},
      {"WordTooLarge", 7, 2,
       "'data' (4, 5) has 7 in row 1, expected ids in [0, 7), the data of Embedding 'embed'"},
      {"WordNegative", -1, 2, "'data' (4, 5) has -1 in row 1"},
      {"WordNaN", kNaN, 2, "'data' (4, 5) has nan in row 1"},
      {"LabelTooLarge", 0, 3,
       "'softmax_label' (4,) has 3 in row 2, expected ids in [0, 3), the label of SoftmaxOutput "
       "'softmax'"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const NDArray words = *NDArray::Zeros({4, 5});
    const NDArray labels = *NDArray::Zeros({4});
    (*words.Data<float>())[1 * 5 + 3] = test.word;
    (*labels.Data<float>())[2] = test.label;
    for (bool check : {true, false}) {
      auto module = *Module::Create(Words());
      auto train = Rows(words, labels);
      FitOptions options = Options();
      EXPECT_TRUE(options.check_ids) << "by default";
      options.check_ids = check;
      const absl::Status status = module->Fit(*train, options);
      if (!check || test.message[0] == '\0') {
        COOPER_EXPECT_OK(status);
      } else {
        EXPECT_THAT(status,
                    StatusIs(kOutOfRange, AllOf(HasSubstr("batch 0: "), HasSubstr(test.message))));
      }
    }
  }
}

TEST(FitIdsTest, LabelsOfCtcLoss) {
  // Returns the loss for batch_size 4, 6 steps and 5 classes.
  const auto loss = [](const char* blank) {
    const Symbol steps = Op("SwapAxis", {.name = "steps",
                                         .inputs = {Symbol::Variable("data")},
                                         .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
    const Symbol scores =
        Op("FullyConnected",
           {.name = "fc", .inputs = {steps}, .attrs = {{"num_hidden", "5"}, {"flatten", "0"}}});
    return Op("MakeLoss",
              {.inputs = {Op("CTCLoss", {.name = "ctc",
                                         .inputs = {scores, Symbol::Variable("softmax_label")},
                                         .attrs = {{"blank_label", blank}}})}});
  };
  struct Case {
    const char* blank;
    float label;
    const char* message;
  };
  const Case cases[] = {
      {"first", 4, ""},
      {"first", 0, ""},
      {"first", 5, "has 5 in row 1, expected ids in [0, 5), the label of CTCLoss"},
      {"last", 3, ""},
      {"last", -1, ""},
      {"last", 4, "has 4 in row 1, expected ids in [0, 4) or -1, the label of"}};
  for (const Case& test : cases) {
    SCOPED_TRACE(test.message);
    const NDArray labels = *NDArray::Full({4, 2}, 1);
    (*labels.Data<float>())[3] = test.label;
    auto module = *Module::Create(loss(test.blank));
    auto train = Rows(RandomArray({4, 6, 3}, 1), labels);
    const auto metric = Loss({});
    FitOptions options = Options();
    options.eval_metric = metric.get();
    const absl::Status status = module->Fit(*train, options);
    if (test.message[0] == '\0') {
      COOPER_EXPECT_OK(status);
    } else {
      EXPECT_THAT(status, StatusIs(kOutOfRange, HasSubstr(test.message)));
    }
  }
}

// Values after the end of a label are padding: any value is accepted there.
TEST(FitIdsTest, LengthsOfCtcLossEndLabels) {
  const Symbol steps = Op("SwapAxis", {.name = "steps",
                                       .inputs = {Symbol::Variable("data")},
                                       .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
  const Symbol ctc = Op(
      "CTCLoss", {.name = "ctc",
                  .inputs = {steps, Symbol::Variable("softmax_label"), Symbol::Variable("lengths")},
                  .attrs = {{"use_label_lengths", "True"}}});
  const NDArray labels = *NDArray::Full({4, 3}, 1);
  (*labels.Data<float>())[5] = 9;  // the third element of row 1
  for (const float length : {1.0f, 2.0f, 3.0f}) {
    SCOPED_TRACE(length);
    auto module =
        *Module::Create(Op("MakeLoss", {.inputs = {ctc}}), {.data_names = {"data", "lengths"}});
    auto train = *NDArrayIter::Create(
        {{"data", RandomArray({4, 6, 3}, 1)}, {"lengths", *NDArray::Full({4}, length)}},
        {{"softmax_label", labels}}, {.batch_size = 4});
    const auto metric = Loss({});
    FitOptions options = Options();
    options.eval_metric = metric.get();
    ExpectFit(*module, *train, options,
              length < 3 ? "" : "has 9 in row 1, expected ids in [0, 3), the label of CTCLoss");
  }
}

TEST(FitIdsTest, TheLabelToIgnoreIsAllowed) {
  const NDArray labels = *NDArray::Full({4}, -1);
  for (const char* use_ignore : {"True", "False"}) {
    auto module = *Module::Create(Words({{"use_ignore", use_ignore}, {"ignore_label", "-1"}}));
    auto train = Rows(*NDArray::Zeros({4, 5}), labels);
    FitOptions options = Options();
    EXPECT_EQ(module->Fit(*train, options).ok(), std::string(use_ignore) == "True");
  }
}

TEST(FitIdsTest, TheModuleIsAsItWasBefore) {
  const NDArray labels = *NDArray::Zeros({8});
  (*labels.Data<float>())[5] = 3;
  const auto train = Rows(*NDArray::Zeros({8, 5}), labels);
  auto module = *Module::Create(Words());
  std::vector<float> before;
  FitOptions options = Options();
  options.batch_end_callbacks.push_back([&](const BatchEndParam& param) {
    before = Floats(param.module->GetParams()->args.at("fc_bias"));
    return true;
  });
  EXPECT_THAT(module->Fit(*train, options), StatusIs(kOutOfRange, HasSubstr("epoch 0, batch 1: ")));
  EXPECT_EQ(Floats(module->GetParams()->args.at("fc_bias")), before);
}

// Only the first epoch is checked: the id that becomes wrong after it is not reported.
TEST(FitIdsTest, TheFirstEpochIsLookedAt) {
  const NDArray words = *NDArray::Zeros({4, 5});
  const auto train = Rows(words, *NDArray::Zeros({4}));
  auto module = *Module::Create(Words());
  FitOptions options = Options(2);
  options.epoch_end_callbacks.push_back([&](int, BaseModule&) {
    (*words.Data<float>())[0] = 99;
    return true;
  });
  COOPER_EXPECT_OK(module->Fit(*train, options));
}

// Serves one batch per epoch.
class BatchesOf : public DataIter {
 public:
  BatchesOf(DataBatch batch, std::vector<DataDesc> data, std::optional<double> invalid)
      : batch_(std::move(batch)), data_(std::move(data)), invalid_(invalid) {}

  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (std::exchange(done_, true)) return std::nullopt;
    return batch_;
  }
  absl::Status Reset() override {
    done_ = false;
    return absl::OkStatus();
  }
  const std::vector<DataDesc>& provide_data() const override { return data_; }
  const std::vector<DataDesc>& provide_label() const override { return label_; }
  int64_t batch_size() const override { return 4; }
  std::optional<double> invalid_label(absl::string_view input) const override {
    return invalid_.has_value() ? invalid_ : DataIter::invalid_label(input);
  }

 private:
  const DataBatch batch_;
  const std::vector<DataDesc> data_;
  const std::vector<DataDesc> label_ = {{.name = "softmax_label", .shape = {4}, .layout = "N"}};
  const std::optional<double> invalid_;  // absent: DataIter's default
  bool done_ = false;
};

TEST(FitIdsTest, WhatBelongsToNoSampleIsLetPass) {
  struct Case {
    const char* name;
    int row, step;  // position of the word
    float word;
    int64_t pad;
    std::vector<int64_t> index, lengths;
    std::optional<double> invalid;
    const char* layout;
    const char* message;
  };
  const char* const kWord = "has 99 in row ";
  const Case cases[] = {
      {"in a sample", 3, 2, 99, 0, {}, {}, {}, "NT", "has 99 in row 3, expected ids in [0, 7)"},
      {"in a row of padding", 3, 2, 99, 1, {}, {}, {}, "NT", ""},
      {"before it", 2, 2, 99, 1, {}, {}, {}, "NT", kWord},
      {"in a row without an id", 1, 2, 99, 1, {3, -1, 4, 5}, {}, {}, "NT", ""},
      {"in the last row, which has one", 3, 2, 99, 1, {3, -1, 4, 5}, {}, {}, "NT", kWord},
      {"in a last row that is filled", 3, 2, 99, 1, {3, 4, 5, 0}, {}, {}, "NT", ""},
      {"behind the length", 1, 2, 99, 0, {}, {5, 2, 5, 5}, {}, "NT", ""},
      {"at its end", 1, 1, 99, 0, {}, {5, 2, 5, 5}, {}, "NT", kWord},
      {"the usual invalid_label", 1, 1, -1, 0, {}, {}, {}, "NT", ""},
      {"another one", 1, 1, 99, 0, {}, {}, 99, "NT", ""},
      {"not that one", 1, 1, -1, 0, {}, {}, 99, "NT", "has -1 in row 1"},
      {"time first, behind the length", 1, 2, 99, 0, {}, {5, 2, 5, 5}, {}, "TN", ""},
      {"time first, in a sample", 2, 2, 99, 0, {}, {5, 2, 5, 5}, {}, "TN", "has 99 in row 2"},
      {"time first, padding", 3, 2, 99, 1, {}, {}, {}, "TN", ""},
      {"no layout, behind the length", 1, 2, 99, 0, {}, {5, 2, 5, 5}, {}, "NCHW", ""},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const bool time_first = std::string(test.layout) == "TN";
    const Shape shape = time_first ? Shape({5, 4}) : Shape({4, 5});
    DataBatch batch{.data = {*NDArray::Zeros(shape)},
                    .label = {*NDArray::Zeros({4})},
                    .pad = test.pad,
                    .index = test.index,
                    .lengths = test.lengths};
    (*batch.data[0].Data<float>())[time_first ? test.step * 4 + test.row
                                              : test.row * 5 + test.step] = test.word;
    Symbol words = Symbol::Variable("data");
    if (time_first) words = Op("SwapAxis", {.inputs = {words}, .attrs = {{"dim2", "1"}}});
    auto module = *Module::Create(Classify(words));
    BatchesOf train(batch, {{.name = "data", .shape = shape, .layout = test.layout}}, test.invalid);
    ExpectFit(*module, train, Options(), test.message);
  }
}

// As in MXNet's example/rnn/bucketing/lstm_bucketing.py, labels are -1 where there is no word, and
// the loss has no ignore_label.
TEST(FitIdsTest, SentencesOfABucketIteratorTrain) {
  std::vector<std::vector<int>> sentences;
  sentences.reserve(12);
  for (int i = 0; i < 12; ++i) sentences.emplace_back(i % 2 == 0 ? 3 : 5, i % 6 + 1);
  const auto generate = [](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
    const Symbol embed = Op("Embedding", {.name = "embed",
                                          .inputs = {Symbol::Variable("data")},
                                          .attrs = {{"input_dim", "7"}, {"output_dim", "2"}}});
    const Symbol rows =
        Op("Reshape", {.name = "rows", .inputs = {embed}, .attrs = {{"shape", "(-1, 2)"}}});
    const Symbol fc =
        Op("FullyConnected", {.name = "fc", .inputs = {rows}, .attrs = {{"num_hidden", "7"}}});
    const Symbol label = Op("Reshape", {.name = "flat",
                                        .inputs = {Symbol::Variable("softmax_label")},
                                        .attrs = {{"shape", "(-1,)"}}});
    return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc, label}}),
                        .data_names = {"data"},
                        .label_names = {"softmax_label"}};
  };
  FitOptions options = Options();
  const auto metric = Loss({});
  options.eval_metric = metric.get();
  for (const bool wrong : {false, true}) {
    if (wrong) sentences[7][2] = 7;
    const auto train = *BucketSentenceIter::Create(sentences, 3, {.buckets = {4, 6}});
    auto model = *BucketingModule::Create({.sym_gen = generate, .default_bucket_key = 6});
    ExpectFit(*model, *train, options, wrong ? "bucket key 6: 'data' (3, 6) has 7 in row " : "");
  }
}

TEST(FitIdsTest, OnlyWhatIsReadOfAnInputIsLookedAt) {
  // The data is (4, 3): its second column has words, the others have numbers that are no ids.
  const Symbol data = Symbol::Variable("data");
  const Symbol sliced =
      Op("slice_axis", {.inputs = {data}, .attrs = {{"axis", "1"}, {"begin", "1"}, {"end", "2"}}});
  const Symbol split =
      Op("SliceChannel", {.inputs = {data}, .attrs = {{"num_outputs", "3"}, {"axis", "1"}}});
  const Symbol turned = Op("transpose", {.inputs = {data}});
  const Symbol column = Op(
      "slice", {.inputs = {turned},
                .attrs = {{"begin", "(1, None)"}, {"end", "(0, None)"}, {"step", "(-1, None)"}}});
  const Symbol back = Op("transpose", {.inputs = {column}});
  const Symbol both = Op("Concat", {.inputs = {split[1], sliced}, .attrs = {{"dim", "1"}}});
  for (const Symbol& words : {sliced, split[1], back, both}) {
    SCOPED_TRACE(words.name());
    for (const bool wrong : {false, true}) {
      const NDArray rows = *NDArray::FromVector<float>(
          {4, 3}, {0.5F, 1, -9, 100, 2, -9, 100, 6, -9, 100, wrong ? 7.0F : 3.0F, -9});
      auto module = *Module::Create(Classify(words));
      const auto train = Rows(rows, *NDArray::Zeros({4}));
      ExpectFit(*module, *train, Options(), wrong ? "'data' (4, 3) has 7 in row 3" : "");
    }
  }
}

TEST(FitIdsTest, WhatIsComputedOrNoIdIsNot) {
  const Symbol shifted =
      Op("_minus_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "100"}}});
  const auto hundred = [] { return Rows(*NDArray::Full({4, 5}, 101), *NDArray::Zeros({4})); };
  auto computed = *Module::Create(Classify(shifted));
  ExpectFit(*computed, *hundred(), Options(), "");
  // Labels of the shape of the predictions are probabilities.
  auto probabilities = *Module::Create(Words());
  FitOptions options = Options();
  const auto metric = Mse({});
  options.eval_metric = metric.get();
  const auto soft = Rows(*NDArray::Zeros({4, 5}), *NDArray::Full({4, 3}, -2));
  ExpectFit(*probabilities, *soft, options, "");
  // Kernels use the integer part of a fraction as the id.
  auto fractions = *Module::Create(Words());
  const auto near = Rows(*NDArray::Full({4, 5}, 6.75), *NDArray::Full({4}, -0.5));
  ExpectFit(*fractions, *near, Options(), "");
}

// Each step's slice of the labels goes to a loss of its own, as in MXNet's unrolled examples.
TEST(FitIdsTest, LabelsAreFoundThroughSlices) {
  const Symbol steps = Op(
      "SliceChannel", {.name = "steps",
                       .inputs = {Symbol::Variable("softmax_label")},
                       .attrs = {{"num_outputs", "2"}, {"axis", "1"}, {"squeeze_axis", "True"}}});
  const Symbol data = Symbol::Variable("data");
  const auto loss = [&](int step, const char* classes) {
    const Symbol fc = Op(
        "FullyConnected",
        {.name = absl::StrCat("fc", step), .inputs = {data}, .attrs = {{"num_hidden", classes}}});
    return Op("SoftmaxOutput", {.name = absl::StrCat("s", step), .inputs = {fc, steps[step]}});
  };
  const Symbol both = *Symbol::Group({loss(0, "3"), loss(1, "5")});
  FitOptions options = Options();
  const auto metric = Loss({});
  options.eval_metric = metric.get();
  for (const bool wrong : {false, true}) {
    const NDArray labels =
        *NDArray::FromVector<float>({4, 2}, {0, 4, 1, 4, wrong ? 4.0F : 2, 4, 0, 0});
    auto module = *Module::Create(both);
    const auto train = Rows(RandomArray({4, 6}, 1), labels);
    ExpectFit(*module, *train, options,
              wrong ? "'softmax_label' (4, 2) has 4 in row 2, expected ids in [0, 3), the label of "
                      "SoftmaxOutput 's0'"
                    : "");
  }
}

TEST(FitIdsTest, SeveralContextsAndChainsAreLookedAt) {
  const NDArray words = *NDArray::Zeros({4, 5});
  (*words.Data<float>())[3 * 5] = 7;
  auto parallel =
      *Module::Create(Words(), {.compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)}}});
  const auto train = Rows(words, *NDArray::Zeros({4}));
  ExpectFit(*parallel, *train, Options(), "'data' (4, 5) has 7 in row 3");

  // The data of the second module is the output of the first one.
  const Symbol scores =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  const Symbol softmax =
      Op("SoftmaxOutput", {.name = "softmax", .inputs = {Symbol::Variable("data")}});
  const NDArray labels = *NDArray::Zeros({4});
  for (const bool wrong : {false, true}) {
    (*labels.Data<float>())[2] = wrong ? 3 : 2;
    SequentialModule chain;
    COOPER_ASSERT_OK(chain.Add(*Module::Create(scores, {.label_names = {}})));
    COOPER_ASSERT_OK(
        chain.Add(*Module::Create(softmax), {.take_labels = true, .auto_wiring = true}));
    const auto rows = Rows(RandomArray({4, 6}, 1), labels);
    ExpectFit(chain, *rows, Options(), wrong ? "'softmax_label' (4,) has 3 in row 2" : "");
  }
}

}  // namespace
}  // namespace cooper
