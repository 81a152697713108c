#include "examples/time_series/time_series.h"

#include <cmath>

#include "module/checkpoint/checkpointer.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/metric/composite_metric.h"
#include "module/metric/regression.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

int StepsOf(const std::string& kind) { return kind == "day" ? 24 : 42; }

std::unique_ptr<EvalMetric> MakeMetric() {
  auto metric = std::make_unique<CompositeEvalMetric>();
  metric->AddMetric(
      Mse({.common = {.output_names = {{"next_output"}}, .label_names = {{"next_label"}}}}));
  metric->AddMetric(
      Accuracy({.common = {.output_names = {{"shape_output"}}, .label_names = {{"shape_label"}}}}));
  return metric;
}

}  // namespace

SeriesData MakeSeries(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  SeriesData data;
  std::vector<float> features;
  for (int64_t i = 0; i < count; ++i) {
    data.kinds.push_back(random.NextBelow(2) == 0 ? "day" : "week");
    data.shapes.push_back(static_cast<int>(random.NextBelow(2)));
    const double level = random.NextUniform(), amplitude = 0.5 + random.NextUniform();
    const double begin = random.NextUniform();
    const auto value = [&](int t) {
      const double turn = begin + t / 12.0;  // a cycle has 12 steps
      const double wave = data.shapes.back() == 0 ? std::sin(2 * M_PI * turn)
                                                  : 4 * std::abs(turn - std::floor(turn + 0.5)) - 1;
      return level + amplitude * wave;
    };
    std::vector<float> values;
    const int steps = StepsOf(data.kinds.back());
    values.reserve(static_cast<size_t>(steps));
    for (int t = 0; t < steps; ++t) {
      values.push_back(static_cast<float>(value(t) + 0.02 * random.NextNormal()));
    }
    data.series.push_back(std::move(values));
    data.next.push_back(static_cast<float>(value(steps)));
    features.insert(features.end(), {static_cast<float>(level), static_cast<float>(amplitude)});
  }
  data.features = NDArray::FromVector({count, 2}, features).value();
  return data;
}

absl::StatusOr<std::unique_ptr<BucketIter>> SeriesBatches(const SeriesData& data) {
  return BucketIter::Create(
      {{.name = "series", .values = data.series}, {.name = "features", .values = data.features}},
      {{.name = "next_label", .values = data.next}, {.name = "shape_label", .values = data.shapes}},
      {.batch_size = 32,
       .key = [&](int64_t i) { return data.kinds[i]; },
       .common = {.last_batch = BucketIterOptions::LastBatch::kSmaller, .seed = 3}});
}

BucketSymbol SeriesNetwork(const BucketKey& key) {
  const Symbol steps = op::expand_dims(Symbol::Variable("series"), {.axis = 2});
  GRUCell cell(24, {.prefix = "gru_"});
  const Unrolled unrolled = Unroll(cell, StepsOf(key.string_value()), steps);
  const Symbol hidden =
      op::FullyConnected(op::Concat({unrolled.states[0], Symbol::Variable("features")}),
                         {.num_hidden = 32, .name = "hidden"});
  const Symbol active = op::Activation(hidden, {.act_type = "tanh"});
  const Symbol next = op::LinearRegressionOutput(
      op::FullyConnected(active, {.num_hidden = 1, .name = "next_value"}), {.name = "next"});
  const Symbol shape = op::SoftmaxOutput(
      op::FullyConnected(active, {.num_hidden = 2, .name = "scores"}), {.name = "shape"});
  return {.symbol = Symbol::Keep(Symbol::Group({next, shape})),
          .data_names = {"series", "features"},
          .label_names = {"next_label", "shape_label"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> MakeSeriesModel(const BucketIter& batches) {
  return BucketingModule::Create(
      {.sym_gen = SeriesNetwork, .default_bucket_key = batches.default_bucket_key()});
}

absl::Status TrainSeries(BucketingModule& model, BucketIter& batches, const std::string& prefix,
                         int num_epoch, std::vector<BatchEndCallback> callbacks) {
  const auto metric = MakeMetric();
  FitOptions fit = {
      .eval_metric = metric.get(),
      .batch_end_callbacks = std::move(callbacks),
      .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.01}}},
      .params = {.initializer = init::Xavier(), .seed = 1},
      .num_epoch = num_epoch};
  const TrainingRun run = {.module = &model, .iter = &batches, .metric = metric.get()};
  COOPER_ASSIGN_OR_RETURN(auto checkpointer, Checkpointer::Create({.prefix = prefix}));
  fit.capture_point = checkpointer->Every(5, run);
  COOPER_RETURN_IF_ERROR(checkpointer->Resume(run, &fit).status());
  COOPER_RETURN_IF_ERROR(model.Fit(batches, fit));
  return checkpointer->Wait();
}

absl::StatusOr<std::vector<std::pair<std::string, double>>> ScoreSeries(BucketingModule& model,
                                                                        const SeriesData& data) {
  COOPER_ASSIGN_OR_RETURN(auto batches, SeriesBatches(data));
  const auto metric = MakeMetric();
  return model.Score(*batches, *metric);
}

}  // namespace cooper
