// The C++ of README.md, run: check_snippets.sh holds the two together.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/bucket_key.h"
#include "io/bucket_sentence_iter.h"
#include "io/ndarray_iter.h"
#include "module/bucketing_module.h"
#include "module/callback/speedometer.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/module.h"
#include "ndarray/ndarray.h"
#include "ndarray/params_file.h"
#include "ndarray/status_macros.h"
#include "ndarray/status_matchers.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

// The outputs for `rows` (n, features) of the model in PREFIX-symbol.json and PREFIX-0003.params.
absl::StatusOr<NDArray> PredictRows(const std::string& prefix, const NDArray& rows) {
  COOPER_ASSIGN_OR_RETURN(auto data, NDArrayIter::Create({{"data", rows}}, {}, {.batch_size = 4}));
  COOPER_ASSIGN_OR_RETURN(auto model, Module::Load(prefix, /*epoch=*/3));
  COOPER_RETURN_IF_ERROR(model->Bind({.data_shapes = data->provide_data(), .for_training = false}));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, model->Predict(*data));
  return outputs[0];  // (n, classes)
}

// The network for sentences of `key` words: each word predicts the next one.
Symbol NextWord(const BucketKey& key) {
  const int length = static_cast<int>(key.int_value());
  const Symbol data = Symbol::Variable("data");            // (batch_size, length)
  const Symbol label = Symbol::Variable("softmax_label");  // (batch_size, length)
  const Symbol embed = op::Embedding(data, {.input_dim = 11, .output_dim = 16, .name = "embed"});
  LSTMCell cell(32, {.prefix = "lstm_"});
  const Unrolled unrolled = Unroll(cell, length, embed, {.merge_outputs = true});
  const Symbol rows = op::Reshape(unrolled.outputs.merged(), {.shape = {-1, 32}});
  const Symbol pred = op::FullyConnected(rows, {.num_hidden = 11, .name = "pred"});
  return op::SoftmaxOutput(pred, {.label = op::Reshape(label, {.shape = {-1}}),
                                  .ignore_label = 0,
                                  .use_ignore = true,
                                  .name = "softmax"});
}

// `sentences` hold the numbers of words, from 1 on; 0 is the padding.
absl::Status TrainNextWord(absl::Span<const std::vector<int>> sentences,
                           const std::string& prefix) {
  COOPER_ASSIGN_OR_RETURN(auto data,
                          BucketSentenceIter::Create(sentences, /*batch_size=*/8,
                                                     {.buckets = {10, 20}, .invalid_label = 0}));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = NextWord, .default_bucket_key = data->default_bucket_key()}));
  const auto perplexity = Perplexity({.ignore_label = 0});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *data, {.eval_metric = perplexity.get(),
              .batch_end_callbacks = {Speedometer({.frequent = 10})},
              .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.02}}},
              .params = {.initializer = init::Xavier()},
              .num_epoch = 10}));
  COOPER_ASSIGN_OR_RETURN(const auto scores, model->Score(*data, *perplexity));
  std::cout << scores[0].first << " " << scores[0].second << "\n";
  return model->SaveCheckpoint(prefix, 10);
}

constexpr char kCheckpoint[] = "tests/golden/module/checkpoint/";

TEST(ReadmeTest, PredictsWithAModelThatMXNetSaved) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays trace,
                              LoadNamedArrays(std::string(kCheckpoint) + "trace.params"));
  NDArray rows, expected;
  for (const auto& [name, array] : trace) {
    if (name == "batch:1:data:data") rows = array;
    if (name == "loaded/out:0") expected = array;
  }
  ASSERT_FALSE(rows.is_null());
  ASSERT_FALSE(expected.is_null());
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray output,
                              PredictRows(std::string(kCheckpoint) + "prefix", rows));
  EXPECT_EQ(output.shape(), expected.shape());
  EXPECT_THAT(*output.ToVector<float>(), Pointwise(FloatNear(1e-5), *expected.ToVector<float>()));
}

TEST(ReadmeTest, TrainsThroughItsBuckets) {
  // 1 2 ... 10 1 2 ..., from any number on: after the first word nothing is left to chance.
  std::vector<std::vector<int>> sentences;
  for (int i = 0; i < 64; ++i) {
    std::vector<int> sentence(i % 2 == 0 ? 9 : 17);
    for (size_t t = 0; t < sentence.size(); ++t) {
      sentence[t] = 1 + (i + static_cast<int>(t)) % 10;
    }
    sentences.push_back(sentence);
  }
  const std::string prefix = testing::TempDir() + "readme_lm";
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(TrainNextWord(sentences, prefix));
  const std::string line = testing::internal::GetCapturedStdout();
  ASSERT_EQ(line.substr(0, 11), "perplexity ");
  EXPECT_LT(std::stod(line.substr(11)), 2) << "an untrained model has perplexity 11";
  COOPER_ASSERT_OK_AND_ASSIGN(auto loaded,
                              BucketingModule::Load(prefix, 10, {.sym_gen = NextWord}));
  EXPECT_EQ(loaded->default_bucket_key(), BucketKey(20));
}

}  // namespace
}  // namespace cooper
