#ifndef COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
#define COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_

// Selects the parameters that a network needs from a file's, and converts their contexts and
// dtypes.

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/predict/inference_network.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

// Returns the arrays without null ones: copied if they are on another context, shared otherwise.
absl::StatusOr<ArrayMap> OnContext(const ArrayMap& arrays, const Context& context);

// Returns the arrays whose names are in `names`.
ArrayMap Among(const ArrayMap& arrays, const std::vector<std::string>& names);

// Whether all arrays are of `dtype`.
bool AllAre(DType dtype, const ArrayMap& arrays);

// Sets network.types and network.other_floats. `named` has the dtypes that the caller gave for
// inputs. If parameters of one dtype contradict each other without a conversion, as a BatchNorm's
// in float16 do, inputs that are not named are float32.
void FindInputTypes(const ArrayMap& args, const ArrayMap& auxs, const KnownTypes& named,
                    InferenceNetwork& network);

// Converts parameters to the dtypes that a network needs, as a module does: those of a float16
// checkpoint to float32 if the inputs are float32. Caches the converted arrays, which networks
// share. Thread-safe.
class ParameterTypes {
 public:
  // Replaces the arrays of `args` and `auxs` whose dtypes differ from those that follow from
  // `inputs`, the dtypes of the network's inputs. Leaves contradictory dtypes for binding to
  // report.
  absl::Status Convert(const Symbol& symbol, const KnownTypes& inputs, ArrayMap& args,
                       ArrayMap& auxs);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, DType>, NDArray> converted_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
