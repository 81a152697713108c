#ifndef COOPER_MODULE_PREDICT_BOUND_PREDICTOR_H_
#define COOPER_MODULE_PREDICT_BOUND_PREDICTOR_H_

// A network bound to shapes of inputs: what a handle of the C interface (c_predict_api.h) is.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "executor/executor.h"
#include "module/predict/inference_network.h"
#include "ndarray/array/array_map.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

struct BoundPredictorOptions {
  absl::string_view symbol_json;
  absl::string_view params;  // of a .params file
  Context context;
  KnownShapes shapes;  // of inputs
  // Likewise. An input that the file has too keeps the dtype that it has there, whatever is said
  // here; others that are not named are float32. Parameters are converted to what follows.
  KnownTypes types;
  std::vector<std::string> output_names;  // "fc1_output"; empty: the network's own
  int count = 1;
};

// Not thread-safe; those of one Create may be used by a thread each. Each that is created in a
// process draws other random numbers, and goes on where it is reshaped.
class BoundPredictor {
 public:
  // So many that share parameters and what was compiled. Arguments that are neither parameters nor
  // inputs have the shapes that follow, and zeros, and so have auxiliary states without a value. An
  // input that the file has too begins with that value, each predictor's its own. Shapes and types
  // of what the symbol does not have are passed over. kInvalidArgument if such a value has another
  // shape, and for parameters without names or with none of arg:NAME and aux:NAME where the network
  // needs some; otherwise the errors of SymbolFromJson, ParseParams and Executor::SimpleBind.
  static absl::StatusOr<std::vector<std::unique_ptr<BoundPredictor>>> Create(
      const BoundPredictorOptions& options);

  // For other shapes: with the same parameters, and the same memory for activations.
  // kInvalidArgument, naming it, if a parameter would change its shape, or for a name that is no
  // argument while an input that Create has given a shape has none here.
  absl::StatusOr<std::unique_ptr<BoundPredictor>> Reshape(const KnownShapes& shapes) const;

  // Copies `size` elements of the argument's dtype. Labels are not looked at.
  absl::Status SetInput(const std::string& name, const void* data, int64_t size);
  absl::Status Forward() { return executor_->Forward(/*is_train=*/false); }
  // Copies the `size` elements of an output of the last Forward.
  absl::Status GetOutput(uint32_t index, void* data, int64_t size) const;

  // kOutOfRange for an output that is not there.
  absl::StatusOr<Shape> OutputShape(uint32_t index) const;
  absl::StatusOr<DType> OutputType(uint32_t index) const;
  Executor& executor() { return *executor_; }

 private:
  // What does not change from shape to shape.
  struct Network {
    InferenceNetwork inference;
    std::vector<std::string> arguments;  // of the symbol as it was given
    ArrayMap args;                       // parameters
    ArrayMap auxs;
    ArrayMap values;                  // that the file has for inputs
    std::vector<std::string> shaped;  // inputs whose shapes were given
    KnownShapes undetermined;         // of parameters, where they do not follow from the inputs'
    KnownTypes types;                 // of inputs
  };

  BoundPredictor(std::shared_ptr<const Network> network, std::unique_ptr<Executor> executor)
      : network_(std::move(network)), executor_(std::move(executor)) {}

  static absl::StatusOr<std::shared_ptr<const Network>> ReadNetwork(
      const BoundPredictorOptions& options);
  // The dtypes of inputs, and the parameters in those that follow.
  static absl::Status FindTypes(const KnownTypes& given, Network& network);
  // Those of `shapes` that are inputs of the network.
  static KnownShapes InputShapes(const Network& network, const KnownShapes& shapes);
  absl::Status CheckOutput(uint32_t index) const;

  const std::shared_ptr<const Network> network_;
  const std::unique_ptr<Executor> executor_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_BOUND_PREDICTOR_H_
