// Tests that passes do not change results: random graphs are bound without passes, with all, and
// with or without each one alone. Repeat a failing graph with
// --gtest_filter='*RandomGraphTest*/SEED'.

#include "tests/passes/random_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "executor/compile/compiled_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "symbol/json/json.h"
#include "tests/passes/make_random_graph.h"
#include "tests/passes/run_graph.h"

namespace cooper {
namespace {

// Passes that transform only values computed from constants.
const std::set<std::string>& kOfConstants = *new std::set<std::string>{
    "constants", "folded_batch_norms", "packed_rnn_weights", "packed_weights", "transposed_weights",
};

// Passes that transform nothing in small arrays (pack_weights_test), or in blocked image layouts
// (fold_batch_norms_test).
const std::set<std::string>& kNotInTheseGraphs = *new std::set<std::string>{
    "folded_batch_norms",
    "winograd",
};

std::set<std::string> AllPassNames() {
  const std::vector<std::string> names = PassNames();
  return {names.begin(), names.end()};
}

// Returns the tolerance for sums over steps, rows and terms, whose errors pass through a few
// layers: well below the effect of a wrong term.
double Tolerance(DType dtype, const std::vector<double>& expected) {
  double magnitude = 1;
  for (double value : expected) magnitude = std::max(magnitude, std::abs(value));
  return magnitude * (dtype == DType::kFloat64 ? 0x1p-52 : 0x1p-23) * 1024;
}

void ExpectNear(const RunResults& actual, const RunResults& expected, DType dtype) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [what, values] : expected) {
    const auto found = actual.find(what);
    ASSERT_TRUE(found != actual.end()) << what;
    ASSERT_EQ(found->second.size(), values.size()) << what;
    const double tolerance = Tolerance(dtype, values);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(found->second[i], values[i], tolerance) << what << " at " << i;
    }
  }
}

// Checks that resizing a program to its own shapes reproduces it.
void ExpectResizesToItself(const CompiledProgram& compiled) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto same, compiled.Resize({}));
  const Program& expected = compiled.program();
  for (size_t v = 0; v < expected.values.size(); ++v) {
    const ProgramValue& value = same->program().values[v];
    ASSERT_EQ(value.shape, expected.values[v].shape) << v;
    ASSERT_EQ(value.offset, expected.values[v].offset) << v;
    ASSERT_LE(same->program().buffers[value.buffer].bytes, expected.buffers[value.buffer].bytes);
  }
}

// Returns other shapes for the arguments of a graph: replaces one extent of their first two axes in
// all or some places.
KnownShapes WithOtherExtent(const RandomGraph& graph, RandomGenerator& random) {
  KnownShapes shapes = graph.shapes;
  std::vector<int64_t> extents;
  const auto for_each_extent = [&](const auto& fn) {
    for (auto& [name, shape] : shapes) {
      for (int axis = 0; axis < std::min(2, shape.rank()); ++axis) fn(shape, axis);
    }
  };
  for_each_extent([&](const PartialShape& shape, int axis) {
    if (shape[axis] > 1) extents.push_back(shape[axis]);
  });
  if (extents.empty()) return shapes;
  const int64_t old = extents[random.NextBelow(extents.size())];
  const auto now = static_cast<int64_t>(1 + random.NextBelow(old - 1));
  const double share = random.NextUniform() < 0.5 ? 1 : 0.3;
  for_each_extent([&](PartialShape& shape, int axis) {
    if (shape[axis] == old && random.NextUniform() < share) shape[axis] = now;
  });
  return shapes;
}

// Returns the number of graphs; COOPER_RANDOM_GRAPHS sets a longer search.
int NumGraphs() {
  int number = 0;
  const char* text = std::getenv("COOPER_RANDOM_GRAPHS");
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : 100;
}

class RandomGraphTest : public ::testing::TestWithParam<int> {
 protected:
  // Runs the graph twice, and compares the results with those of the first variant.
  void Check(const RandomGraph& graph, const std::string& how,
             const std::set<std::string>& disabled) {
    SCOPED_TRACE(how);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto runner, GraphRunner::Create(graph, disabled));
    COOPER_ASSERT_OK_AND_ASSIGN(const RunResults once, runner->Run());
    // The second run has other initial contents of memory, so that reads of uninitialised values
    // show.
    COOPER_ASSERT_OK_AND_ASSIGN(const RunResults twice, runner->Run());
    EXPECT_EQ(once, twice);
    ExpectResizesToItself(*runner->executor().compiled());
    if (expected_.empty()) {
      expected_ = once;
      ExpectOfOrderOne();
    } else {
      ExpectNear(once, expected_, graph.dtype);
    }
    if (HasFailure()) {
      std::cout << "seed " << GetParam() << ", " << how << "\n"
                << SymbolToJson(graph.symbol) << "\n"
                << runner->executor().DebugString();
    }
  }

 private:
  // Checks that values are of order one, so that tolerances are meaningful.
  void ExpectOfOrderOne() {
    for (const auto& [what, values] : expected_) {
      for (double value : values) ASSERT_TRUE(std::abs(value) < 1e4) << what << " has " << value;
    }
  }

  RunResults expected_;
};

TEST_P(RandomGraphTest, PassesChangeNoResult) {
  const RandomGraph graph = MakeRandomGraph(GetParam());
  const std::set<std::string> all = AllPassNames();
  Check(graph, "without any pass", all);
  if (!HasFailure()) Check(graph, "with all passes", {});
  // Binding dominates the time, so each graph tests one pass disabled and another one alone.
  const std::vector<std::string> passes = PassNames();
  const std::string& without = passes[GetParam() % passes.size()];
  if (!HasFailure()) Check(graph, "without " + without, {without});
  const std::string& alone = passes[(GetParam() + GetParam() / passes.size()) % passes.size()];
  std::set<std::string> others = all;
  others.erase(alone);
  if (!HasFailure()) Check(graph, "with only " + alone, others);
}

TEST_P(RandomGraphTest, ConstantsChangeNoResult) {
  const RandomGraph graph = MakeRandomGraph(GetParam());
  COOPER_ASSERT_OK_AND_ASSIGN(const Prediction expected, Predict(graph, {}));
  COOPER_ASSERT_OK_AND_ASSIGN(const Prediction folded, Predict(graph, {.constants = true}));
  ExpectNear(folded.results, expected.results, graph.dtype);
}

TEST_P(RandomGraphTest, OutputsOfTheCallersChangeNoBit) {
  const RandomGraph graph = MakeRandomGraph(GetParam());
  COOPER_ASSERT_OK_AND_ASSIGN(const Prediction expected, Predict(graph, {}));
  COOPER_ASSERT_OK_AND_ASSIGN(const Prediction unbound, Predict(graph, {.unbound_outputs = true}));
  EXPECT_EQ(unbound.results, expected.results);
}

// If the plan has room for other shapes, a resized program, and a program resized from it, compute
// the same as a program compiled for these shapes.
TEST_P(RandomGraphTest, ResizedProgramsChangeNoResult) {
  RandomGraph graph = MakeRandomGraph(GetParam());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto planned, GraphRunner::Create(graph, {}));
  std::shared_ptr<const CompiledProgram> compiled = planned->executor().compiled();
  const KnownShapes largest = graph.shapes;
  RandomGenerator random(/*seed=*/2, /*stream=*/GetParam());
  for (int resized = 0, tries = 0; resized < 2 && tries < 20; ++tries) {
    graph.shapes = largest;
    graph.shapes = WithOtherExtent(graph, random);
    const auto program = compiled->Resize(graph.shapes);
    if (!program.ok()) {
      EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument) << program.status();
      continue;
    }
    ++resized;
    compiled = *program;
    COOPER_ASSERT_OK_AND_ASSIGN(const auto runner, GraphRunner::Create(graph, {}, compiled));
    EXPECT_EQ(runner->executor().compiled(), compiled);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto own, GraphRunner::Create(graph, {}));
    COOPER_ASSERT_OK_AND_ASSIGN(const RunResults actual, runner->Run());
    COOPER_ASSERT_OK_AND_ASSIGN(const RunResults expected, own->Run());
    ExpectNear(actual, expected, graph.dtype);
    if (HasFailure()) {
      std::cout << "seed " << GetParam() << "\n"
                << SymbolToJson(graph.symbol) << "\n"
                << runner->executor().DebugString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, RandomGraphTest, ::testing::Range(0, NumGraphs()));

// Checks that the random graphs contain the patterns of all passes.
TEST(RandomGraphsTest, HoldWhatPassesLookFor) {
  constexpr int kNumBound = 20;
  std::set<std::string> all = AllPassNames();
  for (const std::string& pass : kNotInTheseGraphs) all.erase(pass);
  const size_t found = all.size();
  for (const std::string& pass : kOfConstants) all.erase(pass);
  std::map<std::string, int> changed;  // graphs, by pass
  int mixed = 0;                       // graphs with layers, and with steps that have become none
  for (int seed = 0; seed < kNumBound; ++seed) {
    const RandomGraph graph = MakeRandomGraph(seed);
    for (const std::string& pass : all) {
      std::set<std::string> others = all;
      // rnn_lengths needs the layers of rnn_layers.
      if (pass == "rnn_lengths") others.erase("rnn_layers");
      COOPER_ASSERT_OK_AND_ASSIGN(const auto plain, GraphRunner::Create(graph, others));
      others.erase(pass);
      COOPER_ASSERT_OK_AND_ASSIGN(const auto runner, GraphRunner::Create(graph, others));
      const std::string text = runner->executor().DebugString();
      if (text == plain->executor().DebugString()) continue;
      ++changed[pass];
      if (pass == "rnn_layers" && absl::StrContains(text, "h2h'")) ++mixed;
    }
  }
  for (int seed = 0; seed < kNumBound; ++seed) {
    const RandomGraph graph = MakeRandomGraph(seed);
    COOPER_ASSERT_OK_AND_ASSIGN(const Prediction folded, Predict(graph, {.constants = true}));
    for (const std::string& pass : kOfConstants) {
      COOPER_ASSERT_OK_AND_ASSIGN(const Prediction without,
                                  Predict(graph, {.constants = true, .disabled_passes = {pass}}));
      if (without.program != folded.program) ++changed[pass];
    }
  }
  for (const auto& [pass, graphs] : changed) EXPECT_GE(graphs, kNumBound / 5) << pass;
  EXPECT_EQ(changed.size(), found);
  EXPECT_GE(mixed, kNumBound / 10);
}

}  // namespace
}  // namespace cooper
