#include "module/predict/requests/request_batcher.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/requests/batch_rows.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr int64_t kWords = 9, kHidden = 4, kClasses = 3;

// Returns a network that maps words (batch_size, length) to classes: (batch_size, length,
// kClasses), or with the positions of all samples merged in one axis. Each position depends on its
// word alone.
Symbol Tagger(bool flattened) {
  const Symbol embed = Op("Embedding", {.name = "embed",
                                        .inputs = {Symbol::Variable("data")},
                                        .attrs = {{"input_dim", std::to_string(kWords)},
                                                  {"output_dim", std::to_string(kHidden)}}});
  const Symbol rows =
      flattened ? Op("Reshape", {.inputs = {embed}, .attrs = {{"shape", "(-3, 0)"}}}) : embed;
  const Symbol scores =
      Op("FullyConnected",
         {.name = "fc",
          .inputs = {rows},
          .attrs = {{"num_hidden", std::to_string(kClasses)}, {"flatten", "False"}}});
  return Op("softmax", {.name = "tags", .inputs = {scores}, .attrs = {{"axis", "-1"}}});
}

std::shared_ptr<const Predictor> TaggerPredictor(bool flattened = false) {
  auto predictor =
      Predictor::Create(Tagger(flattened), {{"embed_weight", RandomArray({kWords, kHidden}, 1)},
                                            {"fc_weight", RandomArray({kClasses, kHidden}, 2)},
                                            {"fc_bias", RandomArray({kClasses}, 3)}});
  EXPECT_TRUE(predictor.ok()) << predictor.status();
  return *std::move(predictor);
}

NDArray Sentence(int64_t length, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> words;
  for (int64_t i = 0; i < length; ++i) {
    words.push_back(static_cast<float>(random.NextBelow(kWords)));
  }
  return *NDArray::FromVector<float>({length}, words);
}

// Returns the outputs for the sentence alone, without padding.
std::vector<float> Alone(const Predictor& predictor, const NDArray& sentence) {
  const NDArray batch = *sentence.Reshape({1, sentence.size()});
  return Floats((*predictor.Predict({{"data", batch}}))[0]);
}

// Matches equal values up to rounding, which differs for a matrix product with more rows.
testing::Matcher<const std::vector<float>&> Near(const std::vector<float>& expected) {
  return Pointwise(FloatNear(1e-6f), expected);
}

RequestBatcherOptions Words(int64_t max_batch_size = 8) {
  return {.inputs = {{.name = "data", .shape = {kUnknownDim}}},
          .lengths = {3, 5, 11},
          .max_batch_size = max_batch_size};
}

std::unique_ptr<RequestBatcher> MakeBatcher(std::shared_ptr<const Predictor> predictor,
                                            RequestBatcherOptions options) {
  auto batcher = RequestBatcher::Create(std::move(predictor), std::move(options));
  EXPECT_TRUE(batcher.ok()) << batcher.status();
  return *std::move(batcher);
}

TEST(RequestBatcherTest, EachRequestGetsItsOwnRowWithoutPadding) {
  for (bool flattened : {false, true}) {
    const auto predictor = TaggerPredictor(flattened);
    const auto batcher = MakeBatcher(predictor, Words());
    std::vector<NDArray> sentences;
    std::vector<std::future<RequestBatcher::Outputs>> answers;
    for (int64_t i = 0; i < 100; ++i) {
      sentences.push_back(Sentence(1 + i % 11, i));
      answers.push_back(batcher->Submit({{"data", sentences.back()}}));
    }
    for (size_t i = 0; i < answers.size(); ++i) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, answers[i].get());
      ASSERT_EQ(outputs.size(), 1);
      EXPECT_EQ(outputs[0].shape(), Shape({sentences[i].size(), kClasses}));
      EXPECT_THAT(Floats(outputs[0]), Near(Alone(*predictor, sentences[i]))) << i;
    }
    EXPECT_EQ(batcher->counts().requests, 100);
    EXPECT_LT(batcher->counts().batches, 100);
  }
}

// Returns the words times `scalar`, with the positions of all samples merged in one axis, step by
// step.
Symbol StepsFirst(const std::string& scalar = "2") {
  const Symbol steps = Op("transpose", {.inputs = {Symbol::Variable("data")}});
  return Op("_mul_scalar",
            {.inputs = {Op("Reshape", {.inputs = {steps}, .attrs = {{"shape", "(-1, 1)"}}})},
             .attrs = {{"scalar", scalar}}});
}

TEST(RequestBatcherTest, FlattenedStepByStepEachRequestGetsItsOwnRows) {
  auto predictor = Predictor::Create(StepsFirst(), {});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  RequestBatcherOptions options = Words(/*max_batch_size=*/4);
  options.max_delay = std::chrono::hours(1);
  auto batcher = MakeBatcher(*std::move(predictor), std::move(options));
  const std::vector<std::vector<float>> requests = {
      {1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10, 11, 12, 13}};
  std::vector<std::future<RequestBatcher::Outputs>> answers;
  for (const std::vector<float>& words : requests) {
    const auto length = static_cast<int64_t>(words.size());
    answers.push_back(batcher->Submit({{"data", *NDArray::FromVector<float>({length}, words)}}));
  }
  batcher.reset();  // answers all requests in one partial batch
  for (size_t i = 0; i < requests.size(); ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, answers[i].get());
    std::vector<float> twice;
    for (const float word : requests[i]) twice.push_back(2 * word);
    EXPECT_EQ(Floats(outputs[0]), twice) << i;
    EXPECT_EQ(outputs[0].shape(), Shape({static_cast<int64_t>(twice.size()), 1})) << i;
  }
}

TEST(RequestBatcherTest, RefusesRowsThatCannotBeTold) {
  auto predictor = Predictor::Create(StepsFirst(/*scalar=*/"0"), {});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  EXPECT_THAT(RequestBatcher::Create(*std::move(predictor), Words()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("output 0 "), HasSubstr("give the same rows"))));
}

TEST(RequestBatcherTest, ManyThreadsAsk) {
  const auto predictor = TaggerPredictor();
  RequestBatcherOptions options = Words();
  options.num_threads = 3;
  const auto batcher = MakeBatcher(predictor, std::move(options));
  constexpr int kThreads = 8, kRequests = 30;
  std::vector<int> right(kThreads, 0);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < kRequests; ++k) {
        const NDArray sentence = Sentence(1 + (t + k) % 11, t * 100 + k);
        const auto outputs = batcher->Submit({{"data", sentence}}).get();
        right[t] += outputs.ok() &&
                    testing::Value(Floats((*outputs)[0]), Near(Alone(*predictor, sentence)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kRequests));
}

TEST(RequestBatcherTest, AFullBatchDoesNotWait) {
  RequestBatcherOptions options = Words(/*max_batch_size=*/4);
  options.max_delay = std::chrono::hours(1);
  const auto batcher = MakeBatcher(TaggerPredictor(), std::move(options));
  std::vector<std::future<RequestBatcher::Outputs>> answers;
  answers.reserve(4);
  for (int i = 0; i < 4; ++i) answers.push_back(batcher->Submit({{"data", Sentence(5, i)}}));
  for (auto& answer : answers) COOPER_EXPECT_OK(answer.get().status());
  EXPECT_EQ(batcher->counts().batches, 1);
}

TEST(RequestBatcherTest, TheEndAnswersWhatWaits) {
  RequestBatcherOptions options = Words();
  options.max_delay = std::chrono::hours(1);
  auto batcher = MakeBatcher(TaggerPredictor(), std::move(options));
  auto answer = batcher->Submit({{"data", Sentence(5, 1)}});
  batcher.reset();
  COOPER_EXPECT_OK(answer.get().status());
}

TEST(RequestBatcherTest, WhatIsWrongWithARequestIsItsOwnAnswer) {
  const auto predictor = TaggerPredictor();
  const auto batcher = MakeBatcher(predictor, Words());
  const NDArray sentence = Sentence(4, 1);
  const auto expect_error = [&](ArrayMap request, const auto& message) {
    auto right = batcher->Submit({{"data", sentence}});
    EXPECT_THAT(batcher->Submit(std::move(request)).get(),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, right.get());
    EXPECT_THAT(Floats(outputs[0]), Near(Alone(*predictor, sentence)));
  };
  expect_error({}, HasSubstr("input 'data' is missing"));
  expect_error({{"data", Sentence(12, 1)}},
               AllOf(HasSubstr("length 12"), HasSubstr("the largest bucket 11")));
  expect_error({{"data", *NDArray::Zeros({0})}}, HasSubstr("'data' is (0,)"));
  expect_error({{"data", *NDArray::Zeros({2, 2})}}, HasSubstr("'data' is (2, 2)"));
  expect_error({{"data", *sentence.AsType(DType::kInt32)}}, HasSubstr("is int32, expected float"));
  expect_error({{"data", sentence}, {"date", sentence}}, HasSubstr("there is no input 'date'"));
  expect_error({{"data", *NDArray::FromVector<float>({1}, {std::nanf("")})}},
               HasSubstr("not finite"));
  EXPECT_EQ(batcher->counts().refused, 7);
}

TEST(RequestBatcherTest, RefusesMoreThanMayWait) {
  RequestBatcherOptions options = Words();
  options.max_delay = std::chrono::hours(1);
  options.max_waiting = 2;
  const auto batcher = MakeBatcher(TaggerPredictor(), std::move(options));
  auto first = batcher->Submit({{"data", Sentence(4, 1)}});
  auto second = batcher->Submit({{"data", Sentence(4, 2)}});
  EXPECT_THAT(batcher->Submit({{"data", Sentence(4, 3)}}).get(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("2 requests wait")));
}

// Returns a predictor that sums over the steps without padding.
std::shared_ptr<const Predictor> MaskedSums(DType length_dtype) {
  const Symbol masked =
      Op("SequenceMask", {.inputs = {Op("SwapAxis", {.inputs = {Symbol::Variable("data")},
                                                     .attrs = {{"dim1", "0"}, {"dim2", "1"}}}),
                                     Symbol::Variable("length")},
                          .attrs = {{"use_sequence_length", "True"}}});
  const Symbol sums = Op("sum", {.name = "sums", .inputs = {masked}, .attrs = {{"axis", "0"}}});
  auto predictor = Predictor::Create(sums, {}, {}, {.types = {{"length", length_dtype}}});
  EXPECT_TRUE(predictor.ok()) << predictor.status();
  return *std::move(predictor);
}

TEST(RequestBatcherTest, GivesTheNetworkLengths) {
  for (const DType dtype : {DType::kFloat32, DType::kInt32}) {
    const auto batcher =
        MakeBatcher(MaskedSums(dtype),
                    {.inputs = {{.name = "data", .shape = {kUnknownDim, 2}, .pad_value = 100}},
                     .lengths = {2, 6},
                     .length_name = "length"});
    const NDArray sample = *NDArray::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6});
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, batcher->Submit({{"data", sample}}).get());
    EXPECT_EQ(Floats(outputs[0]), (std::vector<float>{9, 12})) << DTypeName(dtype);
  }
}

TEST(RequestBatcherTest, SamplesOfOneShapeNeedNoLengths) {
  auto predictor = Predictor::Create(TwoLayers(), {{"fc1_weight", RandomArray({5, 4}, 1)},
                                                   {"fc1_bias", RandomArray({5}, 2)},
                                                   {"fc2_weight", RandomArray({3, 5}, 3)},
                                                   {"fc2_bias", RandomArray({3}, 4)}});
  const auto batcher =
      MakeBatcher(*std::move(predictor), {.inputs = {{.name = "data", .shape = {4}}}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs,
                              batcher->Submit({{"data", RandomArray({4}, 5)}}).get());
  EXPECT_EQ(outputs[0].shape(), Shape({3}));
}

TEST(RequestBatcherTest, RefusesWrongOptions) {
  const auto predictor = TaggerPredictor();
  const auto expect_error = [&](const RequestBatcherOptions& options, const auto& message) {
    EXPECT_THAT(RequestBatcher::Create(predictor, options),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  RequestBatcherOptions options = Words();
  options.max_batch_size = 0;
  expect_error(options, HasSubstr("max_batch_size is 0"));
  options = Words();
  options.lengths = {5, 5};
  expect_error(options, HasSubstr("do not rise"));
  options.lengths = {};
  expect_error(options, HasSubstr("lengths is empty"));
  options = Words();
  options.inputs[0].name = "date";
  expect_error(options, HasSubstr("'date'"));
  options = Words();
  options.length_name = "length";
  expect_error(options, HasSubstr("'length'"));
  options = Words();
  options.inputs[0].dtype = DType::kInt32;
  expect_error(options, HasSubstr("'data' is int32, expected float32 as the predictor has it"));
}

// The outputs are one row per time step. One axis has as many rows as there are samples by chance.
TEST(RequestBatcherTest, RefusesRowsOfAnotherAxisThatAreAsManyAsSamples) {
  const Symbol steps = Op("transpose", {.inputs = {Symbol::Variable("data")}});
  auto predictor = Predictor::Create(steps, {});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  EXPECT_THAT(RequestBatcher::Create(*std::move(predictor),
                                     {.inputs = {{.name = "data", .shape = {kUnknownDim}}},
                                      .lengths = {32},
                                      .max_batch_size = 32}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("do not belong to samples")));
}

// Returns, for each sample, ten times the sum of its words, and the words.
Symbol TenSumsAndWords() {
  const Symbol data = Symbol::Variable("data");
  const Symbol sum = Op("sum", {.inputs = {data}, .attrs = {{"axis", "1"}, {"keepdims", "True"}}});
  return *Symbol::Group({Op("tile", {.inputs = {sum}, .attrs = {{"reps", "(1, 10)"}}}), data});
}

TEST(RequestBatcherTest, CutsNoAxisThatHasTheOnlyLengthByChance) {
  auto predictor = Predictor::Create(TenSumsAndWords(), {});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  const auto batcher =
      MakeBatcher(*std::move(predictor),
                  {.inputs = {{.name = "data", .shape = {kUnknownDim}}}, .lengths = {10}});
  const NDArray words = *NDArray::FromVector<float>({3}, {1, 2, 3});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, batcher->Submit({{"data", words}}).get());
  EXPECT_EQ(Floats(outputs[0]), std::vector<float>(10, 6));
  EXPECT_EQ(Floats(outputs[1]), (std::vector<float>{1, 2, 3})) << "follows the length";
}

TEST(RequestBatcherTest, CutsNothingOfANetworkThatTakesOneLength) {
  const Symbol data = Symbol::Variable("data");
  const Symbol unrolled = Op("broadcast_add", {.inputs = {data, Symbol::Variable("bias")}});
  auto predictor = Predictor::Create(unrolled, {{"bias", *NDArray::Full({1, 4}, 1)}});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  const auto batcher =
      MakeBatcher(*std::move(predictor),
                  {.inputs = {{.name = "data", .shape = {kUnknownDim}}}, .lengths = {4}});
  const NDArray words = *NDArray::FromVector<float>({3}, {1, 2, 3});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, batcher->Submit({{"data", words}}).get());
  EXPECT_EQ(Floats(outputs[0]), (std::vector<float>{2, 3, 4, 1}));
}

TEST(FindOutputRowsTest, TellsSamplesFromPositions) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto rows,
      FindOutputRows({{.batch_size = 2, .length = 4, .shapes = {{2, 4, 4}, {8, 3}, {2, 4}}},
                      {.batch_size = 2, .length = 7, .shapes = {{2, 7, 4}, {14, 3}, {2, 4}}}}));
  EXPECT_TRUE(rows[0].follows_length);
  EXPECT_FALSE(rows[0].flattened);
  EXPECT_TRUE(rows[1].flattened);
  EXPECT_TRUE(rows[1].follows_length);
  EXPECT_FALSE(rows[2].follows_length);
  EXPECT_THAT(FindOutputRows({{.batch_size = 2, .length = 4, .shapes = {{4, 2}}},
                              {.batch_size = 2, .length = 7, .shapes = {{7, 2}}}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("(4, 2)")));
}

TEST(FindOutputRowsTest, WhatIsEqualByChanceStaysBehind) {
  EXPECT_THAT(FindOutputRows({{.batch_size = 10, .shapes = {{10, 2}}},
                              {.batch_size = 9, .shapes = {{10, 2}}}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("(10, 2)")));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto rows,
                              FindOutputRows({{.batch_size = 2, .length = 4, .shapes = {{2, 4}}}}));
  EXPECT_FALSE(rows[0].follows_length) << "there is no other length";
}

// Networks that are unrolled to one output per step have another number of outputs for each length.
TEST(FindOutputRowsTest, RefusesOtherNumbersOfOutputs) {
  const OutputShapes one = {.batch_size = 2, .length = 5, .shapes = {{2, 3}}};
  const OutputShapes two = {.batch_size = 2, .length = 9, .shapes = {{2, 3}, {2, 3}}};
  for (const auto& known : {std::vector<OutputShapes>{one, two}, {two, one}}) {
    EXPECT_THAT(FindOutputRows(known), StatusIs(absl::StatusCode::kUnimplemented,
                                                AllOf(HasSubstr("for length 5 has 1 outputs"),
                                                      HasSubstr("for length 9 has 2 outputs"))));
  }
}

TEST(SamplesFirstTest, RefusesRowsOfAnotherNumberOfSamples) {
  const NDArray output = *NDArray::Zeros({6, 2});
  COOPER_EXPECT_OK(SamplesFirst(output, {}, /*rows=*/6, /*length=*/0).status());
  COOPER_EXPECT_OK(SamplesFirst(output, {.flattened = true}, /*rows=*/2, /*length=*/3).status());
  EXPECT_THAT(SamplesFirst(output, {}, /*rows=*/3, /*length=*/0),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("(6, 2)")));
}

}  // namespace
}  // namespace cooper
