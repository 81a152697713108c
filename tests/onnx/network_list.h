#ifndef COOPER_TESTS_ONNX_NETWORK_LIST_H_
#define COOPER_TESTS_ONNX_NETWORK_LIST_H_

// The networks that compare_onnx.py exports, besides those of images from symbol files.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// A network and how it is exported and compared.
struct TestNetwork {
  std::string name;
  // The argument --shapes of export_onnx; it exports the network of the first run.
  std::string shapes;
  // Ids of inputs are 0 ... num_ids - 1; 0: inputs are numbers in [0, 1).
  int64_t num_ids = 0;
  // Returns the network for inputs of these shapes: that of a bucket.
  std::function<absl::StatusOr<Symbol>(const KnownShapes& inputs)> symbol;
  // The shapes of the inputs in each comparison.
  std::vector<KnownShapes> runs;
  // The axis of the steps in `data`, or `source`; inputs named *length are lengths of it.
  int time_axis = 1;
  // Whether the outputs are rows {class, score, 4 numbers of a box}, compared as sets.
  bool detections = false;

  // Returns the number of steps.
  int64_t max_length(const KnownShapes& run) const { return run.begin()->second[time_axis]; }
};

absl::StatusOr<std::vector<TestNetwork>> AllTestNetworks();

}  // namespace cooper

#endif  // COOPER_TESTS_ONNX_NETWORK_LIST_H_
