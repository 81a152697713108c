#include "examples/tagger/tagger.h"

#include <algorithm>

#include "absl/status/status.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {

TaggedSentences MakeTaggedSentences(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  TaggedSentences sentences;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int> words(1 + random.NextBelow(15));
    std::vector<int> tags(words.size());
    for (int& word : words) word = static_cast<int>(1 + random.NextBelow(20));
    for (size_t t = 0; t < words.size(); ++t) {
      const bool before = t > 0 && words[t - 1] % 2 == 0;
      const bool behind = t + 1 < words.size() && words[t + 1] % 2 == 0;
      tags[t] = (before ? 1 : 0) + (behind ? 2 : 0);
    }
    sentences.words.push_back(std::move(words));
    sentences.tags.push_back(std::move(tags));
  }
  return sentences;
}

absl::StatusOr<std::unique_ptr<BucketIter>> TaggerBatches(const TaggedSentences& sentences,
                                                          uint64_t seed) {
  return BucketIter::Create(
      {{.name = "data", .values = sentences.words, .length_name = "length"}},
      {{.name = "softmax_label", .values = sentences.tags, .pad_value = -1}},
      {.batch_size = 16,
       .common = {
           .max_buckets = 3, .last_batch = BucketIterOptions::LastBatch::kSmaller, .seed = seed}});
}

BucketSymbol TaggerNetwork(const BucketKey& key) {
  const Symbol embed =
      op::Embedding(Symbol::Variable("data"), {.input_dim = 21, .output_dim = 16, .name = "embed"});
  BidirectionalCell cell(std::make_shared<GRUCell>(16, GRUCellOptions{.prefix = "l_"}),
                         std::make_shared<GRUCell>(16, GRUCellOptions{.prefix = "r_"}));
  const Symbol both = Unroll(cell, static_cast<int>(key.int_value()), embed,
                             {.merge_outputs = true, .valid_length = Symbol::Variable("length")})
                          .outputs.merged();
  const Symbol scores =
      op::FullyConnected(both, {.num_hidden = 4, .flatten = false, .name = "tag"});
  return {.symbol = op::SoftmaxOutput(
              scores,
              {.ignore_label = -1, .use_ignore = true, .preserve_shape = true, .name = "softmax"}),
          .data_names = {"data", "length"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainTagger(const TaggedSentences& sentences,
                                                             int num_epoch) {
  COOPER_ASSIGN_OR_RETURN(auto batches, TaggerBatches(sentences, /*seed=*/1));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create({.sym_gen = TaggerNetwork,
                                           .default_bucket_key = batches->default_bucket_key()}));
  const auto accuracy = Accuracy({.axis = 2, .ignore_label = -1});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *batches, {.eval_metric = accuracy.get(),
                 .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.02}}},
                 .params = {.initializer = init::Xavier(), .seed = 1},
                 .num_epoch = num_epoch}));
  return model;
}

absl::StatusOr<std::vector<std::vector<int>>> TagSentences(BucketingModule& model,
                                                           const TaggedSentences& sentences) {
  COOPER_ASSIGN_OR_RETURN(auto batches, TaggerBatches(sentences, /*seed=*/0));
  std::vector<std::vector<int>> tags(sentences.words.size());
  const auto visit = [&](const std::vector<NDArray>& outputs, int64_t,
                         const DataBatch& batch) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> all, outputs[0].Data<float>());
    const int64_t words = outputs[0].shape()[1], classes = outputs[0].shape()[2];
    for (size_t row = 0; row < batch.index.size(); ++row) {
      for (int64_t t = 0; t < batch.lengths[row]; ++t) {
        const float* p = &all[(static_cast<int64_t>(row) * words + t) * classes];
        tags[batch.index[row]].push_back(static_cast<int>(std::max_element(p, p + classes) - p));
      }
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(model.IterPredict(*batches, visit));
  return tags;
}

}  // namespace cooper
