// The C++ of the pages on layers, run: check_snippets.sh holds the two together.

#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/arena.h"
#include "executor/executor.h"
#include "executor/memory_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/bucket_boundaries.h"
#include "io/bucket_key.h"
#include "io/bucket_sentence_iter.h"
#include "io/data_desc.h"
#include "io/encode_sentences.h"
#include "io/ndarray_iter.h"
#include "io/text_corpus.h"
#include "module/bucketing_module.h"
#include "module/callback/do_checkpoint.h"
#include "module/checkpointer.h"
#include "module/function_module.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/classification.h"
#include "module/metric/regression.h"
#include "module/module.h"
#include "module/monitor.h"
#include "module/sequential_module.h"
#include "ndarray/atomic_file.h"
#include "ndarray/context.h"
#include "ndarray/gemm.h"
#include "ndarray/gemm_rate.h"
#include "ndarray/ndarray.h"
#include "ndarray/params_file.h"
#include "ndarray/profile_report.h"
#include "ndarray/profiler.h"
#include "ndarray/random.h"
#include "ndarray/status_macros.h"
#include "ndarray/status_matchers.h"
#include "symbol/infer_shape.h"
#include "symbol/json.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/symbol.h"
#include "symbol/visualization/plot_network.h"
#include "symbol/visualization/print_summary.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ndarray.md

absl::Status SaveAndRead(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const NDArray a, NDArray::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  COOPER_ASSIGN_OR_RETURN(const NDArray row, a.At(1));                     // (3,): a view of 4 5 6
  COOPER_RETURN_IF_ERROR(row.Fill(0));                                     // a is 1 2 3 0 0 0 now
  COOPER_ASSIGN_OR_RETURN(const NDArray half, a.AsType(DType::kFloat16));  // elements of its own
  COOPER_RETURN_IF_ERROR(SaveNamedArrays(path, {{"arg:a", a}, {"arg:half", half}}));

  COOPER_ASSIGN_OR_RETURN(const NamedArrays read, LoadNamedArrays(path));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, read[0].second.Data<float>());
  std::cout << read[1].second.ToString() << ", the first element is " << values[0] << "\n";
  return absl::OkStatus();
}

TEST(NDArrayPageTest, SavesAndReads) {
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(SaveAndRead(testing::TempDir() + "two.params"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "(2, 3) float16 cpu(0), the first element is 1\n");
}

void UseBfloat16() {
  // Later products take a fraction of the time, where the processor can do that.
  const absl::Status faster = SetGemmPrecision(GemmPrecision::kBfloat16);
  if (!faster.ok()) std::cerr << faster.message() << "\n";
}

TEST(NDArrayPageTest, UsesBfloat16OrSaysWhyNot) {
  testing::internal::CaptureStderr();
  UseBfloat16();
  const bool refused = GetGemmPrecision() == GemmPrecision::kFloat32;
  EXPECT_EQ(testing::internal::GetCapturedStderr().empty(), !refused);
  COOPER_ASSERT_OK(SetGemmPrecision(GemmPrecision::kFloat32));
}

// symbol.md

absl::StatusOr<Symbol> TwoLayers() {
  const Symbol data = Symbol::Variable("data");
  COOPER_ASSIGN_OR_RETURN(
      const Symbol fc1,
      Symbol::Create("FullyConnected",
                     {.name = "fc1", .inputs = {data}, .attrs = {{"num_hidden", "128"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol act,
      Symbol::Create("Activation", {.inputs = {fc1}, .attrs = {{"act_type", "relu"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol fc2,
      Symbol::Create("FullyConnected",
                     {.name = "fc2", .inputs = {act}, .attrs = {{"num_hidden", "10"}}}));
  return Symbol::Create("SoftmaxOutput", {.name = "softmax", .inputs = {fc2}});
}

TEST(SymbolPageTest, InfersBothWays) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, TwoLayers());
  EXPECT_THAT(net.ListArguments(), ElementsAre("data", "fc1_weight", "fc1_bias", "fc2_weight",
                                               "fc2_bias", "softmax_label"));
  // From the data to the weights.
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(net, {{"data", {32, 650}}}));
  EXPECT_EQ(shapes.args[1].ToString(), "(128, 650)");  // fc1_weight
  // And back: the data's features from a weight.
  COOPER_ASSERT_OK_AND_ASSIGN(
      const InferredShapes back,
      InferShape(net, {{"data", {32, kUnknownDim}}, {"fc1_weight", {128, 650}}}));
  EXPECT_EQ(back.args[0].ToString(), "(32, 650)");  // data
  // What contradicts itself is told with names and shapes.
  EXPECT_EQ(
      InferShape(net, {{"data", {32, 650}}, {"fc1_weight", {128, 200}}}).status().message(),
      "FullyConnected 'fc1': input 'weight' has shape (128, 200), expected (128, 650) = "
      "(num_hidden, input_dim); inputs: data 'data' (32, 650), weight 'fc1_weight' (128, 200), "
      "bias 'fc1_bias' (128,)");
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, SymbolFromJson(SymbolToJson(net)));
  EXPECT_EQ(SymbolToJson(again), SymbolToJson(net));
}

TEST(SymbolPageTest, UnrollsAndUnfuses) {
  const Symbol words = Symbol::Variable("words");  // (batch_size, 20, features)
  FusedRNNCell fused(200, {.num_layers = 2, .mode = RNNMode::kLstm, .prefix = "lstm_"});
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled one_node, fused.Unroll(20, words));
  // The same network, a node for each step, as cells whose weights have names of their own.
  const std::shared_ptr<SequentialRNNCell> cells = fused.Unfuse();
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled steps,
                              cells->Unroll(20, words, {.merge_outputs = true}));
  EXPECT_THAT(one_node.outputs.merged().ListArguments(), ElementsAre("words", "lstm_parameters"));
  EXPECT_THAT(steps.outputs.merged().ListArguments(), testing::Contains("lstm_l0_i2h_weight"));
}

TEST(SymbolPageTest, ShowsANetwork) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, TwoLayers());
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string table, PrintSummary(net, {{"data", {32, 650}}}));
  std::cout << table;
  const PlotOptions options = {.title = "two layers", .shapes = {{"data", {32, 650}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string svg, PlotNetworkSvg(net, options));
  COOPER_ASSERT_OK(WriteFileAtomically(testing::TempDir() + "net.svg", svg));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Total params: 84618\n"));
  EXPECT_THAT(svg, HasSubstr("<title>two layers</title>"));
}

// executor.md

absl::StatusOr<std::unique_ptr<Executor>> BindAsWritten(const Symbol& net) {
  return Executor::SimpleBind(
      net, {.shapes = {{"data", {32, 650}}}, .disabled_passes = {"rnn_layers", "softmax_output"}});
}

absl::Status OneStep() {
  COOPER_ASSIGN_OR_RETURN(const Symbol net, TwoLayers());
  COOPER_ASSIGN_OR_RETURN(
      auto executor,
      Executor::SimpleBind(
          net, {.shapes = {{"data", {32, 650}}},
                .grad_reqs = {{"data", WriteReq::kNull}, {"softmax_label", WriteReq::kNull}}}));
  COOPER_RETURN_IF_ERROR(executor->arg("fc1_weight").Fill(0.01));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
  COOPER_RETURN_IF_ERROR(executor->Backward());  // the output is a loss: no head gradients
  std::cout << executor->grad("fc1_weight").ToString() << "\n" << executor->DebugString();
  return absl::OkStatus();
}

TEST(ExecutorPageTest, RunsOneStep) {
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(OneStep());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("(128, 650) float32 cpu(0)\n"));
  RecordProperty("program", text);
  EXPECT_THAT(text, HasSubstr("_fc_softmax_output 'softmax'"));
}

TEST(PassesPageTest, BindsAsWritten) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, TwoLayers());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, BindAsWritten(net));
  EXPECT_THAT(executor->DebugString(), HasSubstr("\nSoftmaxOutput 'softmax'"));
}

absl::Status ProfileSteps(Executor& executor, const std::string& path) {
  StartProfile();
  for (int step = 0; step < 20; ++step) {
    COOPER_RETURN_IF_ERROR(executor.Forward(/*is_train=*/true));
    COOPER_RETURN_IF_ERROR(executor.Backward());
  }
  const Profile profile = StopProfile();
  std::cout << ProfileTable(profile, /*limit=*/GemmRate());
  return WriteChromeTrace(profile, path);  // for https://ui.perfetto.dev or chrome://tracing
}

TEST(ExecutorPageTest, Profiles) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, TwoLayers());
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {4, 8}}}}));
  testing::internal::CaptureStdout();
  const std::string path = testing::TempDir() + "trace.json";
  COOPER_ASSERT_OK(ProfileSteps(*executor, path));
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("_backward_FullyConnected"), HasSubstr("GFLOP/s of the limit")));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string trace, ReadFile(path));
  EXPECT_THAT(trace, HasSubstr("\"node\":\"fc1\""));
}

// Two executors that share an arena: each reads its batch where it is, and what one leaves in the
// arena lasts until the other runs.
absl::Status ShareAnArena(const NDArray& long_batch, const NDArray& short_batch) {
  COOPER_ASSIGN_OR_RETURN(const Symbol net, TwoLayers());
  const auto arena = std::make_shared<Arena>(Context::Cpu());
  COOPER_ASSIGN_OR_RETURN(auto large, Executor::SimpleBind(net, {.shapes = {{"data", {32, 650}}},
                                                                 .unbound_args = {"data"},
                                                                 .arena = arena}));
  auto params = large->arg_dict();
  params.erase("softmax_label");  // of a shape that depends on data's
  COOPER_ASSIGN_OR_RETURN(auto small, Executor::SimpleBind(net, {.shapes = {{"data", {8, 650}}},
                                                                 .args = params,
                                                                 .unbound_args = {"data"},
                                                                 .arena = arena}));
  COOPER_RETURN_IF_ERROR(large->SetArg("data", long_batch));
  COOPER_RETURN_IF_ERROR(large->Forward(/*is_train=*/false));
  COOPER_RETURN_IF_ERROR(small->SetArg("data", short_batch));
  COOPER_RETURN_IF_ERROR(small->Forward(/*is_train=*/false));
  return large->outputs().status();  // kFailedPrecondition: they are gone
}

TEST(ExecutorPageTest, OldOutputsAreRefused) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray long_batch, NDArray::Zeros({32, 650}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray short_batch, NDArray::Zeros({8, 650}));
  EXPECT_THAT(ShareAnArena(long_batch, short_batch),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another executor that shares the arena has run")));
}

TEST(ExecutorPageTest, PlansMemory) {
  const std::vector<LiveRange> ranges = {
      {.size = 128, .first = 0, .last = 1},  // a
      {.size = 64, .first = 1, .last = 3},   // b
      {.size = 128, .first = 2, .last = 4},  // c
      {.size = 64, .first = 4, .last = 4},   // d
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(ranges));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 128, 0, 128));
  EXPECT_EQ(plan.arena_size, 192);
  EXPECT_EQ(plan.lower_bound, 192);
  COOPER_EXPECT_OK(CheckMemoryPlan(ranges, plan));
}

// io.md

absl::Status ShowBatches(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> words, ReadSentences(path));
  const EncodeSentencesOptions encoding{
      .invalid_label = 0, .start_label = 1, .unknown_token = "<unk>"};
  const EncodedSentences text = EncodeSentences(words, encoding);
  COOPER_ASSIGN_OR_RETURN(const BucketBoundaries best,
                          ChooseBuckets(LengthsOf(text.sentences), {.max_buckets = 2}));
  COOPER_ASSIGN_OR_RETURN(auto data, BucketSentenceIter::Create(
                                         text.sentences, /*batch_size=*/2,
                                         {.buckets = best.buckets,
                                          .invalid_label = 0,
                                          .last_batch = BucketSentenceIterOptions::LastBatch::kPad,
                                          .seed = 7}));
  std::cout << data->report().ToString();
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, data->Next());
  while (batch.has_value()) {
    std::cout << "bucket " << *batch->bucket_key << ", " << batch->pad << " rows of padding\n";
    COOPER_ASSIGN_OR_RETURN(batch, data->Next());
  }
  return data->Reset();  // the next epoch, in another order
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

// module.md

absl::Status TrainRows(const NDArray& rows, const NDArray& labels, const std::string& prefix) {
  COOPER_ASSIGN_OR_RETURN(const Symbol net, TwoLayers());
  COOPER_ASSIGN_OR_RETURN(auto data,
                          NDArrayIter::Create({{"data", rows}}, {{"softmax_label", labels}},
                                              {.batch_size = 16, .shuffle = true, .seed = 1}));
  COOPER_ASSIGN_OR_RETURN(auto model, Module::Create(net));
  auto save = [&](int number, BaseModule&) {
    return model->SaveCheckpoint(prefix, number, /*save_optimizer_states=*/true);
  };
  const auto accuracy = Accuracy({});
  COOPER_RETURN_IF_ERROR(model->Fit(
      *data, {.eval_metric = accuracy.get(),
              .epoch_end_callbacks = {DoCheckpoint(save, /*period=*/5)},
              .optimizer = {.optimizer = "sgd",
                            .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}},
              .params = {.initializer = init::Xavier(), .seed = 1},
              .num_epoch = 10}));
  COOPER_ASSIGN_OR_RETURN(const auto scores, model->Score(*data, *accuracy));
  std::cout << scores[0].first << " " << scores[0].second << "\n";
  return absl::OkStatus();
}

TEST(ModulePageTest, TrainsRows) {
  RandomGenerator random(3);
  std::vector<float> rows, labels;
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 10; ++j) {
      rows.push_back(static_cast<float>(random.NextNormal() * 0.1 + (j == i % 10 ? 1 : 0)));
    }
    labels.push_back(static_cast<float>(i % 10));
  }
  const std::string prefix = testing::TempDir() + "rows";
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(
      TrainRows(*NDArray::FromVector({64, 10}, rows), *NDArray::FromVector({64}, labels), prefix));
  const std::string line = testing::internal::GetCapturedStdout();
  ASSERT_EQ(line.substr(0, 9), "accuracy ");
  EXPECT_GT(std::stod(line.substr(9)), 0.9);
  COOPER_EXPECT_OK(ReadFile(prefix + "-0010.states"));
  COOPER_EXPECT_OK(Module::Load(prefix, 10, /*load_optimizer_states=*/true));
}

// A bag of words before each word: no recurrence, so that tests are quick.
absl::StatusOr<BucketSymbol> NextOfFive(const BucketKey&) {
  COOPER_ASSIGN_OR_RETURN(
      const Symbol embed,
      Symbol::Create("Embedding", {.name = "embed",
                                   .inputs = {Symbol::Variable("data")},
                                   .attrs = {{"input_dim", "6"}, {"output_dim", "8"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol rows,
      Symbol::Create("Reshape", {.inputs = {embed}, .attrs = {{"shape", "(-1, 8)"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol dropped,
                          Symbol::Create("Dropout", {.inputs = {rows}, .attrs = {{"p", "0.1"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol pred,
      Symbol::Create("FullyConnected",
                     {.name = "pred", .inputs = {dropped}, .attrs = {{"num_hidden", "6"}}}));
  COOPER_ASSIGN_OR_RETURN(const Symbol labels,
                          Symbol::Create("Reshape", {.inputs = {Symbol::Variable("softmax_label")},
                                                     .attrs = {{"shape", "(-1,)"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol softmax,
      Symbol::Create("SoftmaxOutput", {.name = "softmax",
                                       .inputs = {pred, labels},
                                       .attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}}}));
  return BucketSymbol{.symbol = softmax};
}

std::vector<std::vector<int>> SentencesOfFiveWords() {
  RandomGenerator random(1);
  std::vector<std::vector<int>> sentences(100);
  for (auto& sentence : sentences) {
    sentence.resize(2 + random.NextBelow(11));
    for (int& word : sentence) word = 1 + static_cast<int>(random.NextBelow(5));
  }
  return sentences;
}

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> FiveWords() {
  return BucketSentenceIter::Create(SentencesOfFiveWords(), 4,
                                    {.buckets = {4, 8, 12}, .invalid_label = 0});
}

// Binds every bucket of `data` before the first batch, and says what each takes.
absl::Status BindAllBuckets(BucketingModule& model, const BucketSentenceIter& data) {
  COOPER_RETURN_IF_ERROR(
      model.Bind({.data_shapes = data.provide_data(), .label_shapes = data.provide_label()}));
  std::vector<BucketShapes> buckets;
  for (const BucketKey& key : data.bucket_keys()) {
    const Shape shape({data.batch_size(), key.int_value()});
    buckets.push_back({.key = key,
                       .data_shapes = {{.name = "data", .shape = shape}},
                       .label_shapes = {{.name = "softmax_label", .shape = shape}}});
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<BucketReport> reports, model.PrepareAll(buckets));
  for (const BucketReport& report : reports) {
    std::cout << "bucket " << report.key << ": " << report.memory.planned_bytes << " bytes of "
              << model.arena_bytes() << ", bound in " << 1e3 * report.bind_seconds << " ms\n";
  }
  return absl::OkStatus();
}

TEST(ModulePageTest, BindsAllBuckets) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(BindAllBuckets(*model, *data));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("bucket 12: "));
  EXPECT_EQ(model->Report().size(), 3u);
  EXPECT_EQ(model->arena_bytes(), model->Report().back().memory.planned_bytes);
}

// A module for training alone: no array has the size of the vocabulary times the words of a batch.
absl::StatusOr<std::unique_ptr<BucketingModule>> MakeLean(SymGen sym_gen) {
  return BucketingModule::Create(
      {.sym_gen = std::move(sym_gen), .default_bucket_key = 60, .label_probabilities = true});
}

TEST(ModulePageTest, TrainsWithoutOutputsOfAllClasses) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, MakeLean(NextOfFive));
  const auto metric = Perplexity({.ignore_label = 0});
  COOPER_ASSERT_OK(model->Fit(
      *data,
      {.eval_metric = metric.get(), .params = {.initializer = init::Xavier()}, .num_epoch = 2}));
  EXPECT_LT(metric->GetNameValue()[0].second, 6);  // words are drawn: 5 is the best
  EXPECT_EQ(model->output_shapes()[0].second[1], 1);
}

// What a model that BucketingModule::SaveCheckpoint wrote computes for `words` (batch_size,
// length): (batch_size * length, words), a row per position. `length` is a bucket that was saved.
absl::StatusOr<NDArray> PredictNextWords(const std::string& prefix, int epoch,
                                         const NDArray& words) {
  const BucketKey length = static_cast<int>(words.shape()[1]);
  const std::vector<DataDesc> data = {{.name = "data", .shape = words.shape()}};
  // Its shape does not follow from the data's, since the symbol reshapes it; no batch brings one.
  const std::vector<DataDesc> label = {{.name = "softmax_label", .shape = words.shape()}};
  COOPER_ASSIGN_OR_RETURN(auto model,
                          BucketingModule::Load(prefix, epoch, {.default_bucket_key = length}));
  COOPER_RETURN_IF_ERROR(
      model->Bind({.data_shapes = data, .label_shapes = label, .for_training = false}));
  COOPER_RETURN_IF_ERROR(model->Forward({.data = {words}, .bucket_key = length}));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, model->GetOutputs());
  return outputs[0].Copy();  // the next bucket's batch overwrites the outputs themselves
}

TEST(ModulePageTest, PredictsWithASavedBucket) {
  const std::string prefix = testing::TempDir() + "five";
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  COOPER_ASSERT_OK(BindAllBuckets(*model, *data));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Xavier()}));
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 1));
  const std::vector<float> words = {1, 2, 3, 4, 5, 1, 2, 3};
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray next,
                              PredictNextWords(prefix, 1, *NDArray::FromVector({2, 4}, words)));
  EXPECT_EQ(next.shape(), Shape({8, 6}));
  const std::vector<float> rows = *next.ToVector<float>();
  EXPECT_NEAR(std::accumulate(rows.begin(), rows.begin() + 6, 0.0), 1, 1e-5);
  EXPECT_THAT(PredictNextWords(prefix, 1, *NDArray::FromVector({4, 2}, words)).status().message(),
              HasSubstr("2"));
}

// Two CPU contexts, the first of which gets 20 rows of every 32.
absl::Status TrainOnTwoContexts(const Symbol& net, DataIter& data) {
  COOPER_ASSIGN_OR_RETURN(auto model,
                          Module::Create(net, {.contexts = {Context::Cpu(0), Context::Cpu(1)},
                                               .work_load_list = {20, 12}}));
  return model->Fit(data, {.optimizer = {.kvstore = "device"}, .num_epoch = 2});
}

TEST(ModulePageTest, TrainsOnTwoContexts) {
  const std::vector<float> rows(64 * 10, 0.5f), labels(64, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, TwoLayers());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data, NDArrayIter::Create({{"data", *NDArray::FromVector({64, 10}, rows)}},
                                     {{"softmax_label", *NDArray::FromVector({64}, labels)}},
                                     {.batch_size = 32}));
  COOPER_EXPECT_OK(TrainOnTwoContexts(net, *data));
}

// In each process: trains on its rows of every batch of `sentences`, 8 of them in a step.
absl::Status TrainInProcesses(BucketingModule& model,
                              const std::vector<std::vector<int>>& sentences,
                              const std::string& kvstore) {
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<KVStore> store, CreateKVStore(kvstore));
  COOPER_ASSIGN_OR_RETURN(auto data,
                          BucketSentenceIter::Create(sentences, /*batch_size=*/8,
                                                     {.buckets = {4, 8, 12},
                                                      .invalid_label = 0,
                                                      .seed = 1,
                                                      .part_index = store->rank(),
                                                      .num_parts = store->num_workers()}));
  return model.Fit(*data, {.optimizer = {.kvstore_instance = store}, .num_epoch = 2});
}

// With one process; module/kvstore/mpi has the tests with several.
TEST(ModulePageTest, TrainsInProcesses) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  COOPER_EXPECT_OK(TrainInProcesses(*model, SentencesOfFiveWords(), "local"));
}

// Trains for 3 epochs, and goes on where an earlier run of this prefix was stopped or killed.
absl::Status TrainResumably(BucketingModule& model, DataIter& data, const std::string& prefix) {
  const auto metric = Perplexity({.ignore_label = 0});
  FitOptions fit{.eval_metric = metric.get(),
                 .stop_on_signal = true,
                 .optimizer = {.optimizer = "adam"},
                 .num_epoch = 3};
  const TrainingRun run{
      .module = &model, .group = model.group().get(), .iter = &data, .metric = metric.get()};
  COOPER_ASSIGN_OR_RETURN(auto checkpointer, Checkpointer::Create({.prefix = prefix}));
  fit.capture_point = checkpointer->Every(10, run);  // batches
  fit.stop_point = checkpointer->AtStop(run);        // Ctrl-C
  COOPER_RETURN_IF_ERROR(checkpointer->Resume(run, &fit).status());
  COOPER_RETURN_IF_ERROR(model.Fit(data, fit));
  return checkpointer->Wait();
}

// Fails after so many batches, as a run that is killed ends.
class Breaking : public DataIter {
 public:
  Breaking(std::unique_ptr<DataIter> iter, int batches) : iter_(std::move(iter)), left_(batches) {}
  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (left_-- == 0) return absl::AbortedError("killed");
    return iter_->Next();
  }
  absl::Status Reset() override { return iter_->Reset(); }
  const std::vector<DataDesc>& provide_data() const override { return iter_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return iter_->provide_label(); }
  int64_t batch_size() const override { return iter_->batch_size(); }
  absl::StatusOr<std::string> SaveState() const override { return iter_->SaveState(); }

 private:
  std::unique_ptr<DataIter> iter_;
  int left_;
};

TEST(ModulePageTest, AResumedRunEndsAlike) {
  const std::string whole_prefix = testing::TempDir() + "whole";
  const std::string killed_prefix = testing::TempDir() + "killed";
  auto make = [] {
    return BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12});
  };
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(auto whole, make());
  COOPER_ASSERT_OK(TrainResumably(*whole, *data, whole_prefix));

  COOPER_ASSERT_OK_AND_ASSIGN(auto again, FiveWords());
  Breaking broken(std::move(again), 35);  // in the second epoch
  COOPER_ASSERT_OK_AND_ASSIGN(auto killed, make());
  EXPECT_THAT(TrainResumably(*killed, broken, killed_prefix),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("killed")));

  COOPER_ASSERT_OK_AND_ASSIGN(auto rest, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(auto resumed, make());
  COOPER_ASSERT_OK(TrainResumably(*resumed, *rest, killed_prefix));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams a, whole->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams b, resumed->GetParams());
  for (const auto& [name, array] : a.args) {
    EXPECT_EQ(*array.ToVector<float>(), *b.args.at(name).ToVector<float>()) << name;
  }
}

// The gradient of |scores - labels|.
absl::StatusOr<NDArray> Signs(const NDArray& scores, const NDArray& labels) {
  COOPER_ASSIGN_OR_RETURN(std::vector<float> signs, scores.ToVector<float>());
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> wanted, labels.ToVector<float>());
  for (size_t i = 0; i < signs.size(); ++i) signs[i] = signs[i] > wanted[i] ? 1 : -1;
  return NDArray::FromVector(scores.shape(), signs);
}

// A line through the medians of its labels: outliers do not pull at it.
absl::StatusOr<std::unique_ptr<SequentialModule>> MedianLine() {
  COOPER_ASSIGN_OR_RETURN(const Symbol line,
                          Symbol::Create("FullyConnected", {.name = "line",
                                                            .inputs = {Symbol::Variable("data")},
                                                            .attrs = {{"num_hidden", "1"}}}));
  COOPER_ASSIGN_OR_RETURN(auto scores, Module::Create(line, {.label_names = {}}));
  COOPER_ASSIGN_OR_RETURN(auto loss,
                          FunctionLossModule({.label_name = "label", .grad_func = Signs}));
  auto chain = std::make_unique<SequentialModule>();
  COOPER_RETURN_IF_ERROR(chain->Add(std::move(scores)));
  COOPER_RETURN_IF_ERROR(chain->Add(std::move(loss), {.take_labels = true, .auto_wiring = true}));
  return chain;
}

TEST(ModulePageTest, FitsALineToMedians) {
  std::vector<float> x, y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(static_cast<float>(i % 10) / 10 - 0.5f);
    y.push_back(i % 8 == 0 ? 50 : 2 * x.back() - 1);  // an eighth of outliers
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data,
      NDArrayIter::Create({{"data", *NDArray::FromVector({40, 1}, x)}},
                          {{"label", *NDArray::FromVector({40, 1}, y)}}, {.batch_size = 40}));
  COOPER_ASSERT_OK_AND_ASSIGN(auto chain, MedianLine());
  const auto mae = Mae({});
  COOPER_ASSERT_OK(
      chain->Fit(*data, {.eval_metric = mae.get(),
                         .optimizer = {.optimizer_params = {{"learning_rate", "0.02"}}},
                         .num_epoch = 600}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, chain->GetParams());
  EXPECT_NEAR((*params.args.at("line_weight").ToVector<float>())[0], 2, 0.1);
  EXPECT_NEAR((*params.args.at("line_bias").ToVector<float>())[0], -1, 0.1);
}

// The perplexity of words that are neither padding (0) nor, by `mask` (labels' shape), left out.
absl::StatusOr<double> PerplexityOf(const NDArray& labels, const NDArray& probabilities,
                                    const NDArray& mask) {
  const auto metric = Perplexity({.ignore_label = 0});
  COOPER_RETURN_IF_ERROR(metric->Update({labels}, {probabilities}, {mask}));
  return metric->GetNameValue()[0].second;
}

TEST(ModulePageTest, LeavesPositionsOut) {
  const NDArray labels = *NDArray::FromVector<float>({2, 2}, {1, 2, 1, 0});
  const NDArray mask = *NDArray::FromVector<float>({2, 2}, {1, 0, 1, 1});
  const NDArray probabilities = *NDArray::FromVector<float>(
      {4, 3}, {.25f, .5f, .25f, .9f, .1f, 0, .375f, .125f, .5f, .9f, .1f, 0});
  COOPER_ASSERT_OK_AND_ASSIGN(const double value, PerplexityOf(labels, probabilities, mask));
  EXPECT_NEAR(value, 4, 1e-9);  // the root of 1 / (0.5 * 0.125)
}

// Trains with a line in the log for each layer's output, parameter and gradient, every 50 batches.
absl::Status TrainWatched(BaseModule& model, DataIter& data) {
  COOPER_ASSIGN_OR_RETURN(auto monitor, Monitor::Create({.interval = 50, .pattern = "fc|pred"}));
  return model.Fit(data, {.monitor = monitor.get(), .num_epoch = 1});
}

TEST(ModulePageTest, TrainsWatched) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  testing::internal::CaptureStderr();  // where glog writes
  const absl::Status status = TrainWatched(*model, *data);
  const std::string log = testing::internal::GetCapturedStderr();
  COOPER_ASSERT_OK(status);
  EXPECT_THAT(log, HasSubstr("Batch:       1 pred_weight_grad "));
}

// mxnet_differences.md

TEST(DifferencesPageTest, TwoVariablesOfOneName) {
  const auto sum = Symbol::Create(
      "elemwise_add", {.inputs = {Symbol::Variable("weight"), Symbol::Variable("weight")}});
  EXPECT_EQ(sum.status().code(), absl::StatusCode::kInvalidArgument);  // MXNet fails at bind
}

}  // namespace
}  // namespace cooper
