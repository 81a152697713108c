// Trains on gpu(0) as on cpu(0): the bucketing tutorial's network and optimizer with small sizes,
// with the CPU's curve; over two contexts; and a resumed run, which has the same bits. Operators
// without a GPU kernel run on the CPU, unless the test says otherwise.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/checkpoint/training_state.h"
#include "module/devices/module_group.h"
#include "module/metric/classification.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/lm_corpus.h"

namespace cooper {
namespace {

constexpr int64_t kWords = 12;
constexpr uint64_t kSeed = 3;

// A training run of several epochs, in buckets of 8 and 16 words.
struct Trained {
  std::unique_ptr<BucketingModule> model;
  std::unique_ptr<BucketSentenceIter> iter;
  std::unique_ptr<EvalMetric> metric = Perplexity({.ignore_label = 0});
};

InitOptimizerOptions OptimizerOf(const std::string& name) {
  InitOptimizerOptions options = {.optimizer = name, .optimizer_params = {}};
  options.optimizer_params = {{"learning_rate", name == "sgd" ? "0.05" : "0.02"}, {"wd", "1e-5"}};
  if (name == "sgd") options.optimizer_params["momentum"] = "0.9";
  options.clip_global_norm = 5;
  return options;
}

InitParamsOptions InitialParams() {
  return {.initializer = LanguageModelInitializer(), .seed = kSeed};
}

Trained MakeRun(const std::vector<Context>& contexts, const std::string& optimizer,
                const std::string& kvstore = "local", bool fallback = true) {
  Trained run;
  std::vector<std::vector<int>> sentences;
  for (std::vector<int>& sentence : MakeSyntheticCorpus(kWords, 120, 0, kSeed).train) {
    if (sentence.size() <= 16) sentences.push_back(std::move(sentence));
  }
  run.iter = *BucketSentenceIter::Create(
      sentences, 4,
      {.buckets = {8, 16}, .invalid_label = 0, .common = {.shuffle = true, .seed = kSeed}});
  run.model = *BucketingModule::Create(
      {.sym_gen = *MakeLanguageModel(
           {.vocab = kWords, .num_embed = 6, .num_hidden = 5, .num_layers = 2, .use_ignore = true}),
       .default_bucket_key = run.iter->default_bucket_key(),
       .compute = {.contexts = contexts, .fallback = fallback}});
  COOPER_EXPECT_OK(run.model->Bind(
      {.data_shapes = run.iter->provide_data(), .label_shapes = run.iter->provide_label()}));
  COOPER_EXPECT_OK(run.model->InitParams(InitialParams()));
  InitOptimizerOptions options = OptimizerOf(optimizer);
  options.kvstore = kvstore;
  // With several contexts, each would otherwise clip gradients and update by itself, while the
  // store does not clip.
  if (contexts.size() > 1) options.clip_global_norm = 0;
  COOPER_EXPECT_OK(run.model->InitOptimizer(options));
  return run;
}

// Returns the perplexity of each batch.
std::vector<double> Train(Trained& run, int batches) {
  std::vector<double> curve;
  for (int i = 0; i < batches; ++i) {
    auto batch = *run.iter->Next();
    if (!batch.has_value()) {
      COOPER_EXPECT_OK(run.iter->Reset());
      batch = *run.iter->Next();
    }
    run.metric->Reset();
    COOPER_EXPECT_OK(run.model->ForwardBackward(*batch));
    COOPER_EXPECT_OK(run.model->UpdateMetric(*run.metric, batch->label));
    COOPER_EXPECT_OK(run.model->Update());
    curve.push_back(run.metric->GetNameValue()[0].second);
  }
  return curve;
}

void ExpectSameCurve(const std::vector<double>& got, const std::vector<double>& expected,
                     double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], tolerance * expected[i]) << "batch " << i;
  }
}

// The tolerance covers roundings of 2^-24 in sums of up to 16 * 4 terms, through 24 steps. Adam
// divides by the root of squared gradients, which magnifies the smallest ones.
constexpr int kBatches = 24;
constexpr double kSgdTolerance = 1e-4;
constexpr double kAdamTolerance = 1e-3;

TEST(TrainingOnGpuTest, HasTheCpusCurve) {
  COOPER_REQUIRE_GPU();
  for (const auto& [optimizer, tolerance] :
       {std::pair("sgd", kSgdTolerance), std::pair("adam", kAdamTolerance)}) {
    SCOPED_TRACE(optimizer);
    Trained on_cpu = MakeRun({Context::Cpu()}, optimizer);
    Trained on_gpu = MakeRun({Context::Gpu(0)}, optimizer);
    const std::vector<double> expected = Train(on_cpu, kBatches);
    ExpectSameCurve(Train(on_gpu, kBatches), expected, tolerance);
    EXPECT_LT(expected.back(), 0.9 * expected.front()) << "it learns";
  }
}

// Repeats the training with a GPU kernel for each node of both passes.
TEST(TrainingOnGpuTest, NothingRunsOnTheCpu) {
  COOPER_REQUIRE_GPU();
  Trained on_cpu = MakeRun({Context::Cpu()}, "sgd");
  Trained on_gpu = MakeRun({Context::Gpu(0)}, "sgd", "local", /*fallback=*/false);
  ExpectSameCurve(Train(on_gpu, kBatches), Train(on_cpu, kBatches), kSgdTolerance);
}

TEST(TrainingOnGpuTest, TwoContextsHaveTheCurveOfTwoCpus) {
  COOPER_REQUIRE_GPU();
  const Context second = FindDevice(Context::Gpu(1)).ok() ? Context::Gpu(1) : Context::Cpu(1);
  for (const char* kvstore : {"local", "device"}) {
    SCOPED_TRACE(kvstore);
    // Compares with a run on CPUs that does not clip gradients either.
    Trained on_cpus = MakeRun({Context::Cpu(0), Context::Cpu(1)}, "sgd", "local");
    Trained on_gpus = MakeRun({Context::Gpu(0), second}, "sgd", kvstore);
    ExpectSameCurve(Train(on_gpus, kBatches), Train(on_cpus, kBatches), kSgdTolerance);
  }
}

void ExpectSameParams(const BucketingModule& a, const BucketingModule& b) {
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams expected, a.GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams got, b.GetParams());
  for (const auto& [name, array] : expected.args) {
    EXPECT_EQ(*got.args.at(name).ToVector<float>(), *array.ToVector<float>()) << name;
  }
}

TEST(TrainingOnGpuTest, GoesOnBitForBit) {
  COOPER_REQUIRE_GPU();
  const std::string path = testing::TempDir() + "/gpu.state";
  for (const char* optimizer : {"sgd", "adam"}) {
    SCOPED_TRACE(optimizer);
    Trained whole = MakeRun({Context::Gpu(0)}, optimizer);
    Train(whole, 7);
    COOPER_ASSERT_OK_AND_ASSIGN(
        const TrainingState state,
        CaptureTraining(
            {.module = whole.model.get(), .iter = whole.iter.get(), .metric = whole.metric.get()},
            0, 7));
    COOPER_ASSERT_OK(SaveTrainingState(path, state));
    Train(whole, 9);

    Trained resumed = MakeRun({Context::Gpu(0)}, optimizer);
    Train(resumed, 2);  // discards the earlier state
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState loaded, LoadTrainingState(path));
    COOPER_ASSERT_OK(RestoreTraining(
        loaded,
        {.module = resumed.model.get(), .iter = resumed.iter.get(), .metric = resumed.metric.get()},
        OptimizerOf(optimizer), InitialParams()));
    Train(resumed, 9);
    ExpectSameParams(*whole.model, *resumed.model);
  }
}

// Files in MXNet's format, with optimizer states, do not depend on the device that saved them.
TEST(TrainingOnGpuTest, OptimizerStatesMoveBetweenDevices) {
  COOPER_REQUIRE_GPU();
  const std::string path = testing::TempDir() + "/gpu.states";
  Trained on_gpu = MakeRun({Context::Gpu(0)}, "adam");
  Train(on_gpu, 5);
  COOPER_ASSERT_OK(on_gpu.model->group()->learner().SaveOptimizerStates(path));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, on_gpu.model->GetParams());
  for (const Context context : {Context::Cpu(), Context::Gpu(0)}) {
    Trained other = MakeRun({context}, "adam");
    Train(other, 5);
    COOPER_ASSERT_OK(other.model->SetParams(params.args, params.auxs, {}));
    COOPER_ASSERT_OK(other.model->group()->learner().LoadOptimizerStates(path));
    Trained reference = MakeRun({Context::Gpu(0)}, "adam");
    Train(reference, 5);
    ExpectSameCurve(Train(other, 8), Train(reference, 8), kAdamTolerance);
  }
}

}  // namespace
}  // namespace cooper
