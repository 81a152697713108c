#ifndef COOPER_TESTS_PASSES_GRAPH_DRAFT_H_
#define COOPER_TESTS_PASSES_GRAPH_DRAFT_H_

// A random graph under construction: its random choices, arguments and values. Its parts
// (random_layers.h, random_operators.h) take values from it and add new ones.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"
#include "symbol/graph/name_manager.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "tests/passes/random_graph.h"

namespace cooper {

struct GraphValue {
  Symbol symbol;
  Shape shape;
};

// Unwraps a result that cannot fail for the graphs built here.
template <typename T>
T Checked(absl::StatusOr<T> value) {
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

class GraphDraft {
 public:
  // Equal seeds give equal choices.
  explicit GraphDraft(uint64_t seed);

  RandomGenerator& random() { return random_; }
  // Returns a number in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.NextBelow(high - low + 1));
  }
  bool Chance(double p) { return random_.NextUniform() < p; }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[random_.NextBelow(from.size())];
  }
  std::string Flag(double p) { return Chance(p) ? "True" : "False"; }

  bool is_double() const { return graph_.dtype == DType::kFloat64; }
  int64_t batch() const { return batch_; }

  // Returns a name that no node has yet.
  std::string Name(const char* kind) { return absl::StrCat(kind, num_names_++); }
  Symbol Variable(const std::string& name, const Shape& shape);
  // Adds a variable whose elements are integers below `classes`.
  Symbol ClassVariable(const Shape& shape, int64_t classes);

  // Applies an operator and returns its outputs with their shapes. Missing inputs become variables
  // whose shapes are inferred.
  std::vector<GraphValue> Outputs(const char* op, const std::vector<GraphValue>& inputs,
                                  const AttrMap& attrs = {});
  // Applies an operator and returns its first output.
  GraphValue Apply(const char* op, const std::vector<GraphValue>& inputs,
                   const AttrMap& attrs = {}) {
    return Outputs(op, inputs, attrs)[0];
  }

  // Adds a value that other parts may use.
  void Add(GraphValue value) { values_.push_back(std::move(value)); }
  const std::vector<GraphValue>& values() const { return values_; }
  GraphValue PickValue() { return Pick(values_); }

  // Adds an output of the graph.
  void AddResult(Symbol result) { results_.push_back(std::move(result)); }

  // The shapes of the arguments so far; parts may add those of weights.
  KnownShapes& shapes() { return graph_.shapes; }

  // Chooses outputs and write requests, and returns the finished graph.
  RandomGraph Finish();

 private:
  // Makes some inner values outputs, or uses them once more.
  Symbol WithInnerOutputs(const Symbol& symbol);
  void ChooseRequests();

  NameManager names_;  // automatic names start from 0
  RandomGenerator random_;
  int64_t batch_ = 0;
  int num_names_ = 0;
  std::vector<GraphValue> values_;
  std::vector<Symbol> results_;
  RandomGraph graph_;
};

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_GRAPH_DRAFT_H_
