#ifndef COOPER_MODULE_PREDICT_INFERENCE_NETWORK_H_
#define COOPER_MODULE_PREDICT_INFERENCE_NETWORK_H_

// What of a trained network is needed to predict with it: losses stay, as what they compute from
// their data, the labels that nobody has go, and nothing writes to parameters, which threads share.

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

struct InferenceNetwork {
  Symbol symbol;
  // Arguments without a value among the parameters, in the symbol's order: what a caller gives.
  std::vector<std::string> inputs;
  // Arguments that are labels of losses alone, which predictions do not depend on. Their shapes
  // follow from the losses' data.
  std::vector<std::string> unread_labels;
  // Auxiliary states without a value, in the symbol's order.
  std::vector<std::string> missing_auxs;
  // What inputs are bound with, where it does not follow from the parameters; and inputs for which
  // another float than float32 follows (FindInputTypes, parameter_arrays.h).
  KnownTypes types;
  KnownTypes other_floats;
};

// The part of `symbol` that computes its outputs, or those named `output_names` ("fc1_output"; any
// output of any node) in their place. What computed a label from others is left out: the loss then
// has a label of its own, called NODE_label. `args` and `auxs` have the parameters, and may have
// more. kNotFound, naming it, for an output that is not there.
absl::StatusOr<InferenceNetwork> MakeInferenceNetwork(const Symbol& symbol, const ArrayMap& args,
                                                      const ArrayMap& auxs,
                                                      absl::Span<const std::string> output_names);

// Whether `shapes` are those of all inputs and of nothing else, each with elements:
// kInvalidArgument that names the input.
absl::Status CheckInputs(const InferenceNetwork& network, const KnownShapes& shapes);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_INFERENCE_NETWORK_H_
