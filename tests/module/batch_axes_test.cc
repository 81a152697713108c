// Tests the batch axis in all positions, with random layouts, numbers of contexts, last batches and
// networks: several contexts predict, measure and learn the same as one context, or return an
// error; and the predictions of one context equal those of each sample alone.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/metric/regression.h"
#include "module/rows/sample_rows.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"
#include "tests/module/module_fixtures.h"
#include "tests/module/parity_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using LastBatch = BucketIterOptions::LastBatch;

constexpr int kFeatures = 4, kClasses = 3;

// The error of sums of at most 16 * 3 * 4 terms below 4 in another order, each rounded to 2^-24 of
// the sum.
constexpr float kTolerance = 16 * 3 * 4 * 4 * 0x1p-24f;

struct Setting {
  bool steps_first = false;  // TN, TNC
  bool features = false;     // NTC, TNC
  bool labels = false;
  LastBatch last_batch = LastBatch::kPad;
  int64_t batch_size = 1;
  std::vector<std::string> outputs;
  std::vector<BucketKey> buckets;
  std::vector<NDArray> samples;
  std::vector<NDArray> classes;  // of each position of a sample, if there are labels

  std::string layout() const {
    return absl::StrCat(steps_first ? "TN" : "NT", features ? "C" : "");
  }
};

Symbol Call(const char* op, const Symbol& data, const AttrMap& attrs) {
  return Op(op, {.inputs = {data}, .attrs = attrs});
}

// Returns the features (batch, length, kFeatures), or (length, batch, kFeatures) with steps first.
Symbol Body(const Setting& s, const Symbol& weight) {
  const Symbol data = Symbol::Variable("data");
  if (s.features) {
    return Op("FullyConnected", {.name = "body",
                                 .inputs = {data, weight},
                                 .attrs = {{"num_hidden", "4"}, {"flatten", "False"}}});
  }
  return Op("Embedding", {.name = "body",
                          .inputs = {data, weight},
                          .attrs = {{"input_dim", "9"}, {"output_dim", "4"}}});
}

Symbol Output(const Setting& s, const std::string& name, const Symbol& body, const Symbol& weight) {
  Symbol swapped = Call("SwapAxis", body, {{"dim1", "0"}, {"dim2", "1"}});
  const char* const time = s.steps_first ? "0" : "1";
  const auto scores = [&](const Symbol& rows) {
    return Op("FullyConnected",
              {.name = name + "_fc", .inputs = {rows}, .attrs = {{"num_hidden", "3"}}});
  };
  const Symbol rows = Call("Reshape", body, {{"shape", "(-1, 4)"}});
  if (name == "softmax") {
    const Symbol label = Call("Reshape", Symbol::Variable("softmax_label"), {{"shape", "(-1,)"}});
    return Op("SoftmaxOutput", {.name = name, .inputs = {scores(rows), label}});
  }
  if (name == "averaged_softmax") {
    const Symbol label = Call("Reshape", Symbol::Variable("softmax_label"), {{"shape", "(-1,)"}});
    return Op(
        "SoftmaxOutput",
        {.name = name, .inputs = {scores(rows), label}, .attrs = {{"normalization", "batch"}}});
  }
  if (name == "regression") {
    const Symbol one = Call("mean", body, {{"axis", "2"}});
    return Op("LinearRegressionOutput",
              {.name = name, .inputs = {one, Symbol::Variable("softmax_label")}});
  }
  if (name == "rows") return scores(rows);
  if (name == "rows_other_way") return scores(Call("Reshape", swapped, {{"shape", "(-1, 4)"}}));
  if (name == "steps") return Call("tanh", body, {});
  if (name == "swapped") return swapped;
  if (name == "last_step") {
    return Call("squeeze",
                Call("slice_axis", body, {{"axis", time}, {"begin", "-1"}, {"end", "None"}}),
                {{"axis", time}});
  }
  if (name == "states") {
    const auto zeros = [] { return Op("_zeros", {.attrs = {{"shape", "(2, 0, 3)"}}}); };
    const Symbol parameters =
        Symbol::Variable("rnn_parameters", {.init = "[\"uniform\", {\"scale\": 0.7}]"});
    return Op("RNN", {.name = "rnn",
                      .inputs = {s.steps_first ? body : swapped, parameters, zeros(), zeros()},
                      .attrs = {{"mode", "lstm"},
                                {"state_size", "3"},
                                {"num_layers", "2"},
                                {"state_outputs", "True"}}});
  }
  if (name == "parts") {
    return Call("SliceChannel", body, {{"num_outputs", "2"}, {"axis", "2"}});
  }
  if (name == "mean") return Call("mean", body, {});
  if (name == "sum") return Call("sum", Call("square", body, {}), {});
  if (name == "mean_loss") {
    return Op("MakeLoss", {.name = name, .inputs = {Call("mean", Call("square", body, {}), {})}});
  }
  if (name == "divided_loss") {
    return Op("MakeLoss", {.name = name,
                           .inputs = {Call("square", body, {})},
                           .attrs = {{"normalization", "batch"}}});
  }
  if (name == "penalty") {
    return Op("MakeLoss", {.name = name, .inputs = {Call("sum", Call("square", weight, {}), {})}});
  }
  // This loss is one number for each sample.
  return Op("MakeLoss", {.name = "loss",
                         .inputs = {Call("mean", Call("square", body, {}),
                                         {{"axis", s.steps_first ? "(0, 2)" : "(1, 2)"}})}});
}

BucketSymbol Net(const Setting& s) {
  const Symbol weight = Symbol::Variable("body_weight");
  const Symbol body = Body(s, weight);
  std::vector<Symbol> outputs;
  for (const std::string& name : s.outputs) outputs.push_back(Output(s, name, body, weight));
  return {.symbol = *Symbol::Group(outputs),
          .label_names =
              s.labels ? std::vector<std::string>{"softmax_label"} : std::vector<std::string>()};
}

std::vector<NDArray> Samples(const Setting& s, RandomGenerator& random) {
  std::vector<NDArray> samples;
  for (uint64_t i = 0; i < 2 + random.NextBelow(12); ++i) {
    const auto length = static_cast<int64_t>(2 + random.NextBelow(2));
    Shape shape = s.features ? Shape({length, 2}) : Shape({length});
    std::vector<float> values(shape.num_elements());
    for (float& value : values) value = static_cast<float>(1 + random.NextBelow(8));
    samples.push_back(*NDArray::FromVector(shape, values));
  }
  return samples;
}

std::vector<NDArray> ClassesOf(const std::vector<NDArray>& samples, RandomGenerator& random) {
  std::vector<NDArray> classes;
  classes.reserve(samples.size());
  for (const NDArray& sample : samples) {
    classes.push_back(Classes(sample.shape()[0], kClasses, random.NextBelow(1000)));
  }
  return classes;
}

// Returns an iterator that gives the same batches each time that it is created.
std::unique_ptr<BucketIter> Iterator(const Setting& s) {
  const BucketInput data = {.name = "data",
                            .values = s.samples,
                            .pad_to = s.features ? std::vector{0, kFree} : std::vector{0},
                            .layout = s.layout()};
  std::vector<BucketInput> label;
  if (s.labels) {
    label.push_back({.name = "softmax_label",
                     .values = s.classes,
                     .pad_to = {0},
                     .layout = s.steps_first ? "TN" : "NT"});
  }
  auto iter = BucketIter::Create({data}, label,
                                 {.batch_size = s.batch_size,
                                  .buckets = s.buckets,
                                  .common = {.last_batch = s.last_batch, .seed = 3}});
  COOPER_EXPECT_OK(iter.status());
  return *std::move(iter);
}

absl::StatusOr<std::unique_ptr<BucketingModule>> Bound(const Setting& s, int contexts,
                                                       bool for_training) {
  const auto iter = Iterator(s);
  COOPER_ASSIGN_OR_RETURN(
      auto module, BucketingModule::Create({.sym_gen = [s](const BucketKey&) { return Net(s); },
                                            .default_bucket_key = iter->default_bucket_key(),
                                            .compute = {.contexts = Cpus(contexts)}}));
  COOPER_RETURN_IF_ERROR(module->Bind({.data_shapes = iter->provide_data(),
                                       .label_shapes = iter->provide_label(),
                                       .for_training = for_training,
                                       .inputs_need_grad = for_training && s.features}));
  COOPER_RETURN_IF_ERROR(module->InitParams({.initializer = init::Uniform(0.7), .seed = 1}));
  return module;
}

void ExpectNear(const NDArray& a, const NDArray& b, const std::string& what) {
  ASSERT_EQ(a.is_null(), b.is_null()) << what;
  if (a.is_null()) return;
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const std::vector<float> x = Floats(a), y = Floats(b);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(std::abs(x[i] - y[i]), kTolerance * (1 + std::abs(y[i])))
        << what << ", element " << i;
  }
}

// Counts the compared outputs by name, so that the test cannot pass without comparing any.
std::map<std::string, int>& Compared() {
  static auto* compared = new std::map<std::string, int>;
  return *compared;
}

// Compares the predictions with those of one context for each sample alone, in order of their ids.
void ExpectPredictionsOfSamples(const Setting& s, BucketingModule& module,
                                const std::vector<NDArray>& predicted,
                                const std::vector<int64_t>& ids) {
  std::map<int64_t, DataBatch> by_id;
  const auto iter = Iterator(s);
  COOPER_ASSERT_OK(iter->HardReset());  // as Predict
  while (true) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
    if (!batch.has_value()) break;
    for (size_t n = 0; n < batch->index.size(); ++n) {
      if (batch->index[n] < 0) continue;
      DataBatch one = {.bucket_key = batch->bucket_key};
      const auto take = [&](const std::vector<NDArray>& from, const std::vector<DataDesc>& descs,
                            std::vector<NDArray>& to, std::vector<DataDesc>& to_descs) {
        for (size_t i = 0; i < from.size(); ++i) {
          const int axis = BatchAxis(descs[i].layout);
          to.push_back(*TakeIndices(from[i], axis, {static_cast<int64_t>(n)}));
          to_descs.push_back(descs[i]);
          to_descs.back().shape = to.back().shape();
        }
      };
      take(batch->data, batch->provide_data, one.data, one.provide_data);
      take(batch->label, batch->provide_label, one.label, one.provide_label);
      by_id[batch->index[n]] = std::move(one);
    }
  }
  std::vector<std::vector<NDArray>> parts(predicted.size());
  std::vector<BatchLayout> layouts;
  for (const auto& [id, batch] : by_id) {
    COOPER_ASSERT_OK(module.ForwardToEvaluate(batch));
    layouts = module.output_layouts();
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, module.GetOutputs());
    for (size_t k = 0; k < outputs.size(); ++k) parts[k].push_back(*outputs[k].Copy());
  }
  const std::vector<std::string> names = module.output_names();
  bool first = true;
  for (size_t k = 0; k < predicted.size(); ++k) {
    if (!layouts[k].has_samples()) continue;
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray expected, JoinAlong(parts[k], layouts[k].axis));
    ExpectNear(predicted[k], expected, absl::StrCat(names[k], " of single samples"));
    if (!std::exchange(first, false)) continue;
    std::vector<int64_t> expected_ids;
    size_t at = 0;
    for (const auto& [id, batch] : by_id) {
      expected_ids.insert(expected_ids.end(), parts[k][at++].shape()[layouts[k].axis], id);
    }
    EXPECT_EQ(ids, expected_ids) << names[k];
  }
}

void ComparePredictions(const Setting& s, int contexts) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto one, Bound(s, 1, false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto many, Bound(s, contexts, false));
  std::vector<int64_t> one_ids, many_ids;
  const auto expected = one->Predict(*Iterator(s), {.ids = &one_ids});
  const auto got = many->Predict(*Iterator(s), {.ids = &many_ids});
  ASSERT_EQ(got.status(), expected.status());
  if (!expected.ok()) {
    // Steps of two buckets cannot be joined.
    ASSERT_GT(s.buckets.size(), 1u) << expected.status();
    ASSERT_THAT(expected.status().message(), HasSubstr("use IterPredict"));
    return;
  }
  EXPECT_EQ(many_ids, one_ids);
  const std::vector<std::string> names = one->output_names();
  ASSERT_EQ(got->size(), expected->size());
  for (size_t k = 0; k < got->size(); ++k) {
    ExpectNear((*got)[k], (*expected)[k], absl::StrCat("Predict: ", names[k]));
    ++Compared()[names[k]];
  }
  if (!expected->empty()) ExpectPredictionsOfSamples(s, *one, *expected, one_ids);
}

void CompareMetrics(const Setting& s, int contexts) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto one, Bound(s, 1, false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto many, Bound(s, contexts, false));
  for (const bool count_padding : {false, true}) {
    const auto score = [&](BucketingModule& module) {
      const auto metric = !s.labels                      ? Loss({})
                          : s.outputs[0] == "regression" ? Mse({})
                                                         : Perplexity({});
      return module.Score(*Iterator(s), *metric, {.count_padding = count_padding});
    };
    const auto expected = score(*one), got = score(*many);
    ASSERT_EQ(got.status(), expected.status());
    if (!expected.ok()) continue;
    const double value = (*expected)[0].second;
    if (std::isnan(value)) continue;
    EXPECT_NEAR((*got)[0].second, value, kTolerance * (1 + std::abs(value)))
        << (*expected)[0].first << ", count_padding " << count_padding;
    ++Compared()["metric"];
  }
}

// Compares the gradients of each batch, which start at the losses.
void CompareGradients(const Setting& s, int contexts) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto one, Bound(s, 1, true));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto many, Bound(s, contexts, true));
  const auto iter = Iterator(s);
  while (true) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
    if (!batch.has_value()) break;
    std::vector<NDArray> heads;
    for (BucketingModule* module : {one.get(), many.get()}) {
      COOPER_ASSERT_OK(module->Forward(*batch, true));
      if (heads.empty()) {
        for (const auto& [name, shape] : module->output_shapes()) {
          heads.push_back(RandomArray(shape, heads.size()));
        }
      }
      COOPER_ASSERT_OK(module->Backward(heads));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, one->GetParams());
    for (const auto& [name, value] : params.args) {
      ExpectNear(*many->GetGrad(name), *one->GetGrad(name), "gradient of " + name);
      ++Compared()["gradient"];
    }
    if (!s.features) continue;
    ExpectNear((*many->GetInputGrads())[0], (*one->GetInputGrads())[0], "gradient of data");
  }
}

TEST(BatchAxesTest, SeveralContextsAreAsOne) {
  ForRandomCases(150, [](RandomGenerator& random) {
    Setting s;
    s.steps_first = random.NextBelow(2) == 0;
    s.features = random.NextBelow(2) == 0;
    s.labels = random.NextBelow(3) == 0;
    s.last_batch = static_cast<LastBatch>(random.NextBelow(4));
    s.batch_size = static_cast<int64_t>(1 + random.NextBelow(5));
    s.buckets = {3};
    if (random.NextBelow(2) == 0) s.buckets.insert(s.buckets.begin(), 2);
    if (s.labels) {
      s.outputs = {std::vector{"softmax", "averaged_softmax", "regression"}[random.NextBelow(3)]};
    } else {
      const std::vector<std::string> kOutputs = {"rows",      "rows_other_way", "steps", "swapped",
                                                 "last_step", "states",         "parts", "mean",
                                                 "sum",       "mean_loss",      "loss",  "penalty"};
      for (uint64_t i = 0; i < 1 + random.NextBelow(3); ++i) {
        const std::string& output = kOutputs[random.NextBelow(kOutputs.size())];
        if (std::count(s.outputs.begin(), s.outputs.end(), output) == 0) {
          s.outputs.push_back(output);
        }
      }
      // A network that consists only of a parameter has no data.
      if (s.outputs == std::vector<std::string>{"penalty"}) s.outputs = {"penalty", "mean"};
    }
    const int contexts = static_cast<int>(2 + random.NextBelow(2));
    std::string what =
        absl::StrCat(s.layout(), ", ", contexts, " contexts, batch ", s.batch_size, ", last batch ",
                     static_cast<int>(s.last_batch), ", ", s.buckets.size(), " buckets:");
    for (const std::string& output : s.outputs) absl::StrAppend(&what, " ", output);
    SCOPED_TRACE(what);
    s.samples = Samples(s, random);
    s.classes = ClassesOf(s.samples, random);
    ComparePredictions(s, contexts);
    if (!testing::Test::HasFailure()) CompareMetrics(s, contexts);
    if (!testing::Test::HasFailure()) CompareGradients(s, contexts);
  });
  if (testing::Test::HasFailure() || std::getenv("COOPER_RANDOM_SEED") != nullptr) return;
  for (const char* name :
       {"rows_fc_output", "rows_other_way_fc_output", "rnn_state_output", "softmax_output",
        "mean_loss_output", "loss_output", "metric", "gradient"}) {
    EXPECT_GT(Compared()[name], 5) << name;
  }
}

}  // namespace
}  // namespace cooper
