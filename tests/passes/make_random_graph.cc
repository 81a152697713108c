#include "tests/passes/make_random_graph.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/executor_fixtures.h"
#include "tests/passes/graph_draft.h"
#include "tests/passes/random_images.h"
#include "tests/passes/random_layers.h"
#include "tests/passes/random_operators.h"

namespace cooper {
namespace {

Symbol Label(GraphDraft& g, const GraphValue& scores, const AttrMap& attrs) {
  const int64_t rows = scores.shape[0];
  const int64_t classes = scores.shape[1];
  if (attrs.contains("multi_output")) return g.ClassVariable({rows, 1}, classes);
  if (g.Chance(0.1)) return g.Variable(g.Name("probabilities"), scores.shape);
  if (g.Chance(0.5)) return g.ClassVariable({rows}, classes);
  // Labels as in a language model: of two axes, or sliced from more.
  const GraphValue wide{g.ClassVariable({1, rows}, classes), {1, rows}};
  return g.Apply("Reshape", {wide}, {{"shape", "(-1,)"}}).symbol;
}

void Classify(GraphDraft& g) {
  const GraphValue source = g.PickValue();
  const int64_t classes = g.Between(2, 6);
  GraphValue data = source;
  if (data.shape.rank() != 2 && g.Chance(0.8)) {
    const int64_t last = data.shape.rank() == 0 ? 1 : data.shape[data.shape.rank() - 1];
    data = g.Apply("Reshape", {data}, {{"shape", absl::StrCat("(-1, ", last, ")")}});
  }
  if (data.shape.rank() == 0) return;
  const bool flatten = data.shape.rank() != 2 || g.Chance(0.7);
  const GraphValue scores = g.Apply("FullyConnected", {data},
                                    {{"num_hidden", absl::StrCat(classes)},
                                     {"no_bias", g.Flag(0.3)},
                                     {"flatten", flatten ? "True" : "False"}});
  if (g.Chance(0.1)) g.Add(scores);
  AttrMap attrs = {{"use_ignore", g.Flag(0.5)},
                   {"ignore_label", absl::StrCat(g.Between(0, 1))},
                   {"normalization", g.Pick<std::string>({"null", "batch", "valid"})},
                   {"grad_scale", g.Pick<std::string>({"1", "0.25"})}};
  if (g.Chance(0.1)) attrs["multi_output"] = "True";
  if (g.Chance(0.1)) attrs["out_grad"] = "True";
  if (g.Chance(0.1)) attrs["smooth_alpha"] = "0.1";
  const Symbol softmax = Op("SoftmaxOutput", {.name = g.Name("softmax"),
                                              .inputs = {scores.symbol, Label(g, scores, attrs)},
                                              .attrs = attrs});
  g.AddResult(softmax);
  if (g.Chance(0.2)) g.Add({softmax, scores.shape});
}

void AddLoss(GraphDraft& g) {
  const GraphValue value = g.Apply("tanh", {g.PickValue()});
  if (g.Chance(0.5)) {
    const Symbol label = g.Variable(g.Name("target"), value.shape);
    g.AddResult(Op("LinearRegressionOutput",
                   {.name = g.Name("regression"), .inputs = {value.symbol, label}}));
  } else {
    const GraphValue squares = g.Apply("square", {value});
    g.AddResult(g.Apply("MakeLoss", {g.Chance(0.5) ? g.Apply("mean", {squares}) : squares},
                        {{"grad_scale", "0.5"}})
                    .symbol);
  }
}

void AddPart(GraphDraft& g, RandomLayers& layers) {
  const double kind = g.random().NextUniform();
  if (kind < 0.4) {
    layers.Unroll();
  } else if (kind < 0.55) {
    layers.StepByStep();
  } else if (kind < 0.75) {
    Classify(g);
  } else if (kind < 0.8) {
    ReuseEntries(g);
  } else if (kind < 0.9) {
    SplitAndConcat(g);
  } else {
    AddLoss(g);
  }
  for (int64_t i = g.Between(0, 4); i > 0; --i) Operate(g);
}

}  // namespace

RandomGraph MakeRandomGraph(uint64_t seed) {
  GraphDraft g(seed);
  RandomLayers layers(g);
  const int64_t parts = g.Between(2, 5);
  for (int64_t i = 0; i < parts; ++i) AddPart(g, layers);
  if (g.Chance(0.95)) ConvolveImages(g);
  return g.Finish();
}

}  // namespace cooper
