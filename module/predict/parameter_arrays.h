#ifndef COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
#define COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_

// Which of a file's parameters a network needs, where, and in which dtypes.

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

// The arrays, without null ones: copied if they are on another context, shared otherwise.
absl::StatusOr<ArrayMap> OnContext(const ArrayMap& arrays, const Context& context);

// Those of the names that are there.
ArrayMap Among(const ArrayMap& arrays, const std::vector<std::string>& names);

// Whether all arrays are of `dtype`.
bool AllAre(DType dtype, const ArrayMap& arrays);

// Sets network.types and network.other_floats: `named` has the dtypes of inputs that the caller
// gives. Where parameters of a dtype contradict each other without a conversion, as a BatchNorm's
// in float16 do, inputs that are not named are float32.
void FindInputTypes(const ArrayMap& args, const ArrayMap& auxs, const KnownTypes& named,
                    InferenceNetwork& network);

// Converts parameters to the dtypes that a network needs, as a module does: those of a float16
// checkpoint to float32 where the inputs are float32. Keeps what it has converted, which networks
// share. Thread-safe.
class ParameterTypes {
 public:
  // Replaces the arrays of `args` and `auxs` whose dtypes are others than follow from `inputs`, the
  // dtypes of the network's inputs. Dtypes that contradict each other are left to the binding.
  absl::Status Convert(const Symbol& symbol, const KnownTypes& inputs, ArrayMap& args,
                       ArrayMap& auxs);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, DType>, NDArray> converted_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
