#ifndef COOPER_TESTS_PASSES_RUN_GRAPH_H_
#define COOPER_TESTS_PASSES_RUN_GRAPH_H_

// Runs one training step and one prediction of a random graph with selected passes.

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

// The results by name: "output 2", "gradient cell0_i2h_bias".
using RunResults = std::map<std::string, std::vector<double>>;

class GraphRunner {
 public:
  // Binds the graph, which must outlive the runner. `compiled` is that of Executor::SimpleBind.
  static absl::StatusOr<std::unique_ptr<GraphRunner>> Create(
      const RandomGraph& graph, const std::set<std::string>& disabled_passes,
      std::shared_ptr<const CompiledProgram> compiled = nullptr);

  // Fills all arrays with values that do not depend on how the graph was bound, and runs it for
  // training, backward, and for prediction.
  absl::StatusOr<RunResults> Run();

  const Executor& executor() const { return *executor_; }

 private:
  explicit GraphRunner(const RandomGraph& graph) : graph_(graph) {}

  absl::Status Fill();

  const RandomGraph& graph_;
  std::shared_ptr<RandomState> random_ = std::make_shared<RandomState>();
  std::unique_ptr<Executor> executor_;
};

// The results of one prediction of a random graph bound without gradients, and its program.
struct Prediction {
  RunResults results;
  std::string program;
};

struct PredictionOptions {
  bool constants = false;        // everything that does not vary from batch to batch is a constant
  bool unbound_outputs = false;  // the second run writes its outputs to other arrays than the first
  std::set<std::string> disabled_passes;
};

// Runs the prediction on arrays that do not depend on the options.
absl::StatusOr<Prediction> Predict(const RandomGraph& graph, const PredictionOptions& how);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RUN_GRAPH_H_
