#ifndef COOPER_MODULE_PREDICT_INFERENCE_NETWORK_H_
#define COOPER_MODULE_PREDICT_INFERENCE_NETWORK_H_

// Extracts the part of a trained network that prediction needs. Losses stay and compute their
// outputs from their data; labels go; and nothing writes to parameters, which threads share.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/array_map.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

// A network for prediction.
struct InferenceNetwork {
  Symbol symbol;
  // Arguments without a value among the parameters, in the symbol's order: the caller provides
  // them.
  std::vector<std::string> inputs;
  // Arguments that are labels of losses and nothing else, on which predictions do not depend. Their
  // shapes follow from the losses' data.
  std::vector<std::string> unread_labels;
  // Auxiliary states without a value, in the symbol's order.
  std::vector<std::string> missing_auxs;
  // Dtypes with which inputs are bound if they do not follow from the parameters; and inputs for
  // which another floating dtype than float32 follows (FindInputTypes, parameter_arrays.h).
  KnownTypes types;
  KnownTypes other_floats;
};

// Returns the part of `symbol` that computes its outputs, or the outputs `output_names`
// ("fc1_output"; any output of any node) instead. A label that is computed is replaced by a
// variable NODE_label of its loss. `args` and `auxs` have the parameters, and may have more.
// kNotFound, naming it, for a missing output.
absl::StatusOr<InferenceNetwork> MakeInferenceNetwork(const Symbol& symbol, const ArrayMap& args,
                                                      const ArrayMap& auxs,
                                                      absl::Span<const std::string> output_names);

// kInvalidArgument, naming the input, unless `shapes` has exactly the inputs, each with at least
// one element.
absl::Status CheckInputs(const InferenceNetwork& network, const KnownShapes& shapes);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_INFERENCE_NETWORK_H_
