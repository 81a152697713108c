// The C++ of predict.md, run: check_snippets.sh holds them together.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/parameters/checkpoint.h"
#include "module/predict/predictor.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

// Maps words (batch_size, length) to the probabilities of their tags, (batch_size, length, 3).
Symbol Tagger(const BucketKey& key) {
  const Symbol words =
      op::Embedding(Symbol::Variable("data"), {.input_dim = 9, .output_dim = 4, .name = "embed"});
  GRUCell cell(5, {.prefix = "gru_"});
  const Symbol hidden =
      Unroll(cell, static_cast<int>(key.int_value()), words, {.merge_outputs = true})
          .outputs.merged();
  const Symbol scores =
      op::FullyConnected(hidden, {.num_hidden = 3, .flatten = false, .name = "tag"});
  return op::SoftmaxOutput(scores, {.preserve_shape = true, .name = "softmax"});
}

absl::StatusOr<std::shared_ptr<const Predictor>> ServeTagger(const std::string& params_file) {
  ArrayMap args, auxs;
  COOPER_RETURN_IF_ERROR(MapParamsFile(params_file, &args, &auxs));
  return Predictor::Create(Tagger, args, auxs);
}

absl::StatusOr<std::unique_ptr<RequestBatcher>> ServeSentences(
    std::shared_ptr<const Predictor> tagger) {
  return RequestBatcher::Create(std::move(tagger),
                                {.inputs = {{.name = "data", .shape = {kUnknownDim}}},
                                 .lengths = {5, 10, 20},
                                 .max_batch_size = 32,
                                 .max_delay = std::chrono::milliseconds(2)});
}

TEST(PredictSnippetsTest, ServesATrainedTagger) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = Tagger, .default_bucket_key = 5}));
  COOPER_ASSERT_OK(model->Bind({.data_shapes = {{.name = "data", .shape = {2, 5}, .layout = "NT"}},
                                .label_shapes = {{.name = "softmax_label", .shape = {2, 5}}}}));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Xavier(), .seed = 1}));
  const std::string prefix = testing::TempDir() + "/tagger";
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 1));

  COOPER_ASSERT_OK_AND_ASSIGN(const auto tagger, ServeTagger(prefix + "-0001.params"));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batcher, ServeSentences(tagger));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray words, NDArray::FromVector<float>({3}, {4, 1, 7}));
  std::future<RequestBatcher::Outputs> answer = batcher->Submit({{"data", words}});
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> tags, answer.get());
  EXPECT_EQ(tags[0].shape(), Shape({3, 3}));  // of its three words

  // All sentences of a batch at once.
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray batch, NDArray::FromVector<float>({1, 3}, {4, 1, 7}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto alone, tagger->Predict(3, {{"data", batch}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, alone[0].ToVector<float>());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto served, tags[0].ToVector<float>());
  EXPECT_THAT(served, testing::Pointwise(testing::FloatNear(1e-5f), expected));
}

}  // namespace
}  // namespace cooper
