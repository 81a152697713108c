#ifndef COOPER_TESTS_PASSES_RUN_GRAPH_H_
#define COOPER_TESTS_PASSES_RUN_GRAPH_H_

// One training step and one prediction of a random graph, with chosen passes.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "executor/executor.h"
#include "tests/passes/random_graph.h"

namespace cooper {

// What was computed, by what it is: "output 2", "gradient cell0_i2h_bias".
using RunResults = std::map<std::string, std::vector<double>>;

class GraphRunner {
 public:
  // Binds; the graph must outlive it. `compiled` is Executor::SimpleBind's.
  static absl::StatusOr<std::unique_ptr<GraphRunner>> Create(
      const RandomGraph& graph, const std::set<std::string>& disabled_passes,
      std::shared_ptr<const CompiledProgram> compiled = nullptr);

  // Fills all arrays, the same whenever and however the graph was bound, and runs it: for training,
  // backward, for prediction.
  absl::StatusOr<RunResults> Run();

  const Executor& executor() const { return *executor_; }

 private:
  explicit GraphRunner(const RandomGraph& graph) : graph_(graph) {}

  absl::Status Fill();

  const RandomGraph& graph_;
  std::shared_ptr<RandomState> random_ = std::make_shared<RandomState>();
  std::unique_ptr<Executor> executor_;
};

// What one prediction of a random graph computes and how, bound without gradients.
struct Prediction {
  RunResults results;
  std::string program;
};

struct PredictionOptions {
  bool constants = false;        // everything that does not vary from batch to batch is one
  bool unbound_outputs = false;  // the second run's outputs lie in other arrays than the first's
  std::set<std::string> disabled_passes;
};

// With the same arrays whatever the options.
absl::StatusOr<Prediction> Predict(const RandomGraph& graph, const PredictionOptions& how);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RUN_GRAPH_H_
