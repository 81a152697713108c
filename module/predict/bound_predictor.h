#ifndef COOPER_MODULE_PREDICT_BOUND_PREDICTOR_H_
#define COOPER_MODULE_PREDICT_BOUND_PREDICTOR_H_

// A network bound to shapes of inputs: the object behind a handle of the C interface
// (c_predict_api.h).

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

// Options of BoundPredictor::Create. The views must stay valid during the call.
struct BoundPredictorOptions {
  absl::string_view symbol_json;
  absl::string_view params;  // contents of a .params file
  Context context;
  KnownShapes shapes;  // of inputs
  // Dtypes of inputs. An input for which the file has a value keeps the file's dtype, whatever this
  // says; other inputs that are missing here are float32. Parameters are converted to the dtypes
  // that follow.
  KnownTypes types;
  std::vector<std::string> output_names;  // "fc1_output"; empty: the network's own
  // The number of predictors to create.
  int count = 1;
};

// Not thread-safe; the predictors of one Create may be used by one thread each. Each predictor
// created in a process draws different random numbers, and Reshape continues its stream.
class BoundPredictor {
 public:
  // Returns `count` predictors that share parameters and the compiled program. Arguments that are
  // neither parameters nor inputs have the inferred shapes and zeros, and so do auxiliary states
  // without a value. An input for which the file has a value starts with a copy of it. Shapes and
  // types for unknown names are ignored.
  //
  // Errors: kInvalidArgument if the file's value of an input has another shape, and for a file
  // whose names do not begin with arg: or aux: while the network needs some; otherwise those of
  // SymbolFromJson, ParseParams and Executor::SimpleBind.
  static absl::StatusOr<std::vector<std::unique_ptr<BoundPredictor>>> Create(
      const BoundPredictorOptions& options);

  // Returns a predictor for other shapes with the same parameters and the same memory for
  // activations, so only one of the two may be in use at a time. kInvalidArgument, naming it, if a
  // parameter would change its shape, or for an unknown name while an input that had a shape in
  // Create has none here.
  absl::StatusOr<std::unique_ptr<BoundPredictor>> Reshape(const KnownShapes& shapes) const;

  // Copies `size` elements of the argument's dtype to it; kInvalidArgument if it has another size.
  // Ignores labels.
  absl::Status SetInput(const std::string& name, const void* data, int64_t size);
  // Computes the outputs for the inputs that are set. Errors are those of Executor::Forward.
  absl::Status Forward() { return executor_->Forward(/*is_train=*/false); }
  // Copies the output of the last Forward, `size` elements of its dtype.
  absl::Status GetOutput(uint32_t index, void* data, int64_t size) const;

  // Shape and dtype of an output. kOutOfRange for an index without an output.
  absl::StatusOr<Shape> OutputShape(uint32_t index) const;
  absl::StatusOr<DType> OutputType(uint32_t index) const;
  Executor& executor() { return *executor_; }

 private:
  // The parts that do not depend on the shapes.
  struct Network {
    InferenceNetwork inference;
    std::vector<std::string> arguments;  // of the symbol as given
    ArrayMap args;                       // parameters
    ArrayMap auxs;
    ArrayMap values;                  // the file's values of inputs
    std::vector<std::string> shaped;  // inputs whose shapes were given
    KnownShapes undetermined;         // of parameters whose shapes do not follow from the inputs'
    KnownTypes types;                 // of inputs
  };

  BoundPredictor(std::shared_ptr<const Network> network, std::unique_ptr<Executor> executor)
      : network_(std::move(network)), executor_(std::move(executor)) {}

  static absl::StatusOr<std::shared_ptr<const Network>> ReadNetwork(
      const BoundPredictorOptions& options);
  // Finds the dtypes of inputs, and converts the parameters to those that follow.
  static absl::Status FindTypes(const KnownTypes& given, Network& network);
  // Returns the `shapes` of names that are inputs of the network.
  static KnownShapes InputShapes(const Network& network, const KnownShapes& shapes);
  absl::Status CheckOutput(uint32_t index) const;

  const std::shared_ptr<const Network> network_;
  const std::unique_ptr<Executor> executor_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_BOUND_PREDICTOR_H_
