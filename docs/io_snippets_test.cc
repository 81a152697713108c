// The C++ of io.md, choose_buckets.md and padding.md, run: check_snippets.sh holds them together.

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_boundaries.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/buckets/step_cost.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "module/bucketing/bucket_plan.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/linalg.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/reduce.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

absl::Status ShowBatches(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> words, ReadSentences(path));
  const EncodeSentencesOptions encoding{
      .invalid_label = 0, .start_label = 1, .unknown_token = "<unk>"};
  const EncodedSentences text = EncodeSentences(words, encoding);
  COOPER_ASSIGN_OR_RETURN(auto data,
                          BucketSentenceIter::Create(
                              text.sentences, /*batch_size=*/2,
                              {.invalid_label = 0,
                               .common = {.max_buckets = 2,
                                          .last_batch = BucketSentenceIterOptions::LastBatch::kPad,
                                          .seed = 7}}));
  std::cout << data->report().ToString();
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, data->Next());
  while (batch.has_value()) {
    std::cout << "bucket " << *batch->bucket_key << ", " << batch->pad << " rows of padding\n";
    COOPER_ASSIGN_OR_RETURN(batch, data->Next());
  }
  return data->Reset();  // the next epoch, in another order
}

// Returns batches of about 560 words with similar lengths, longest sentence first, and the lengths.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> SortedBatches(
    const std::vector<std::vector<int>>& sentences) {
  return BucketSentenceIter::Create(
      sentences, /*batch_size=*/32,
      {.invalid_label = 0,
       .length_name = "length",
       .common = {.max_buckets = 10, .tokens_per_batch = 560, .sort_batches = 8}});
}

// Returns buckets for attention over up to 512 words, by the operations of a sentence.
absl::StatusOr<BucketBoundaries> CheapestBuckets(const SymGen& attention,
                                                 absl::Span<const int64_t> lengths) {
  BucketPlanOptions options = {.sym_gen = attention};
  for (const int64_t length : {1, 64, 128, 256, 512}) {
    options.buckets.push_back(
        {.key = length,
         .data_shapes = {{.name = "data", .shape = {32, length}, .layout = "NT"}},
         .label_shapes = {{.name = "softmax_label", .shape = {32}, .layout = "N"}}});
  }
  COOPER_ASSIGN_OR_RETURN(BucketPlan plan, BucketPlan::Create(std::move(options)));
  std::vector<StepTime> steps;
  for (const int64_t length : {1, 64, 128, 256, 512}) {
    COOPER_ASSIGN_OR_RETURN(const double flops, plan.Flops(length, /*batch_size=*/32));
    steps.push_back({.length = length, .time = flops / 32});
  }
  COOPER_ASSIGN_OR_RETURN(const StepCostLines cost, InterpolateStepCost(steps));
  return ChooseBuckets(lengths, {.max_buckets = 8, .step_cost = cost});
}

// Returns attention of words to each other, and the mean of the results.
Symbol Attention(const BucketKey&) {
  const Symbol words =
      op::Embedding(Symbol::Variable("data"), {.input_dim = 50, .output_dim = 16, .name = "words"});
  const Symbol weights = op::softmax(op::batch_dot(words, words, {.transpose_b = true}));
  return op::SoftmaxOutput(
      op::FullyConnected(op::mean(op::batch_dot(weights, words), {.axis = {1}}),
                         {.num_hidden = 3, .name = "classes"}),
      {.name = "softmax"});
}

// Long sentences cost more than their words, so that more buckets are among them.
TEST(IoPageTest, ChoosesBucketsByOperations) {
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length <= 512; ++length) lengths.push_back(length);
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries by_work, CheapestBuckets(Attention, lengths));
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketBoundaries by_length,
                              ChooseBuckets(lengths, {.max_buckets = 8}));
  EXPECT_EQ(by_work.buckets.size(), 8);
  EXPECT_GT(by_work.buckets[0], by_length.buckets[0]);
}

TEST(IoPageTest, SortsBatches) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto data, SortedBatches({{1}, {1, 2, 3}, {1, 2}}));
  EXPECT_EQ(data->provide_data()[1].name, "length");
}

TEST(IoPageTest, ShowsBatches) {
  const std::string path = testing::TempDir() + "text";
  COOPER_ASSERT_OK(WriteFileAtomically(path,
                                       "speak , speak .\nhear me speak .\nwe know .\nmay not "
                                       "young men die too , as the old ?\n"));
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(ShowBatches(path));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("bucket 4: 3 sentences, 2 batches of 2\n"
                              "bucket 11: 1 sentences, 1 batches of 2\n"));
}

}  // namespace
}  // namespace cooper
