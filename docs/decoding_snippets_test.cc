// The C++ of decoding.md, run: check_snippets.sh holds them together.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/lstm_cell.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr int kHidden = 16;

// Maps ids of any shape to vectors.
absl::StatusOr<Symbol> Embed(const Symbol& words) {
  return Symbol::Create(
      "Embedding",
      {.name = "embed", .inputs = {words}, .attrs = {{"input_dim", "6"}, {"output_dim", "8"}}});
}

// Maps rows of hidden states to scores of the six words.
absl::StatusOr<Symbol> Scores(const Symbol& hidden) {
  return Symbol::Create("FullyConnected",
                        {.name = "pred", .inputs = {hidden}, .attrs = {{"num_hidden", "6"}}});
}

// Returns the network that is trained on sentences of one length: data is (batch_size, length).
absl::StatusOr<BucketSymbol> Sentences(const BucketKey& length) {
  COOPER_ASSIGN_OR_RETURN(const Symbol words, Embed(Symbol::Variable("data")));
  LSTMCell cell(kHidden, {.prefix = "lstm_"});
  COOPER_ASSIGN_OR_RETURN(const Unrolled steps, cell.Unroll(static_cast<int>(length.int_value()),
                                                            words, {.merge_outputs = true}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol rows,
      Symbol::Create("Reshape", {.inputs = {steps.outputs.symbols()[0]},
                                 .attrs = {{"shape", "(-1, " + std::to_string(kHidden) + ")"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol scores, Scores(rows));
  COOPER_ASSIGN_OR_RETURN(const Symbol labels,
                          Symbol::Create("Reshape", {.inputs = {Symbol::Variable("softmax_label")},
                                                     .attrs = {{"shape", "(-1,)"}}}));
  COOPER_ASSIGN_OR_RETURN(
      Symbol loss,
      Symbol::Create(
          "SoftmaxOutput",
          {.name = "softmax",
           .inputs = {scores, labels},
           .attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}, {"normalization", "valid"}}}));
  return BucketSymbol{.symbol = std::move(loss)};
}

// Returns a module that decodes one step: it maps a word, (batch_size,), and the states before it
// to the probabilities of the next word and the states after it.
absl::StatusOr<std::unique_ptr<Module>> OneStep(int64_t batch_size, const ModuleParams& trained) {
  COOPER_ASSIGN_OR_RETURN(const Symbol word, Embed(Symbol::Variable("data")));
  LSTMCell cell(kHidden, {.prefix = "lstm_"});
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> before, cell.BeginState(VariableStates()));
  COOPER_ASSIGN_OR_RETURN(const StepResult step, cell.Step(word, before));
  COOPER_ASSIGN_OR_RETURN(const Symbol scores, Scores(step.output));
  COOPER_ASSIGN_OR_RETURN(const Symbol next,
                          Symbol::Create("softmax", {.name = "next", .inputs = {scores}}));
  std::vector<Symbol> outputs = {next};
  outputs.insert(outputs.end(), step.states.begin(), step.states.end());
  COOPER_ASSIGN_OR_RETURN(const Symbol network, Symbol::Group(outputs));

  ModuleOptions options{.label_names = {}};
  for (const Symbol& state : before) options.compute.state_names.push_back(state.name());
  COOPER_ASSIGN_OR_RETURN(auto module, Module::Create(network, options));
  COOPER_RETURN_IF_ERROR(
      module->Bind({.data_shapes = {{.name = "data", .shape = {batch_size}, .layout = "N"}},
                    .for_training = false}));
  COOPER_RETURN_IF_ERROR(module->SetParams(trained.args, trained.auxs));
  return module;
}

// Returns `count` words: always the most probable next one, beginning after `word`.
absl::StatusOr<std::vector<int>> Decode(Module& step, int word, int count) {
  COOPER_RETURN_IF_ERROR(step.SetStates(0));  // a new sentence
  std::vector<int> words;
  for (int i = 0; i < count; ++i) {
    COOPER_ASSIGN_OR_RETURN(const NDArray data, NDArray::Full({1}, word));
    COOPER_RETURN_IF_ERROR(step.Forward({.data = {data}}));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, step.GetOutputs());
    COOPER_ASSIGN_OR_RETURN(const std::vector<float> next, outputs[0].ToVector<float>());
    word = static_cast<int>(std::max_element(next.begin(), next.end()) - next.begin());
    words.push_back(word);
    COOPER_RETURN_IF_ERROR(step.SetStates(outputs.subspan(1)));
  }
  return words;
}

// Returns sentences that count from a first word on: 3 4 5 1 2 ...
std::vector<std::vector<int>> Counting() {
  std::vector<std::vector<int>> sentences;
  for (int i = 0; i < 60; ++i) {
    sentences.emplace_back();
    for (int t = 0; t < 4 + i % 5; ++t) sentences.back().push_back((i + t) % 5 + 1);
  }
  return sentences;
}

TEST(DecodingPageTest, GoesOnCounting) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data,
      BucketSentenceIter::Create(Counting(), 6,
                                 {.buckets = {4, 8}, .invalid_label = 0, .common = {.seed = 1}}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = Sentences, .default_bucket_key = 8}));
  const auto perplexity = Perplexity({.ignore_label = 0});
  COOPER_ASSERT_OK(model->Fit(
      *data, {.eval_metric = perplexity.get(),
              .optimizer = {.optimizer = "adam",
                            .optimizer_params = {{"learning_rate", 0.02}, {"rescale_grad", 1}}},
              .params = {.initializer = init::Xavier()},
              .num_epoch = 30}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams trained, model->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(auto step, OneStep(1, trained));
  EXPECT_THAT(Decode(*step, 3, 6), IsOkAndHolds(ElementsAre(4, 5, 1, 2, 3, 4)));

  // Step by step the numbers are those of the unrolled network.
  const std::vector<float> words = {2, 3, 5, 1};
  const std::vector<DataDesc> shapes = {{.name = "data", .shape = {1, 4}}};
  const std::vector<DataDesc> labels = {{.name = "softmax_label", .shape = {1, 4}}};
  COOPER_ASSERT_OK(model->Forward({.data = {*NDArray::FromVector({1, 4}, words)},
                                   .bucket_key = 4,
                                   .provide_data = shapes,
                                   .provide_label = labels},
                                  /*is_train=*/false));
  const std::vector<float> expected = *(*model->GetOutputs())[0].ToVector<float>();
  COOPER_ASSERT_OK(step->SetStates(0));
  std::vector<float> got;
  for (float word : words) {
    COOPER_ASSERT_OK(step->Forward({.data = {*NDArray::Full({1}, word)}}));
    const absl::Span<const NDArray> outputs = *step->GetOutputs();
    const std::vector<float> next = *outputs[0].ToVector<float>();
    got.insert(got.end(), next.begin(), next.end());
    COOPER_ASSERT_OK(step->SetStates(outputs.subspan(1)));
  }
  EXPECT_THAT(got, Pointwise(FloatNear(1e-5f), expected));
}

}  // namespace
}  // namespace cooper
