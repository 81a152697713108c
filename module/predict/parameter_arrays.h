#ifndef COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
#define COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_

// Which of a file's parameters a network needs, where, and in which dtypes.

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array_map.h"
#include "ndarray/context.h"
#include "ndarray/dtype.h"
#include "symbol/infer_type.h"
#include "symbol/symbol.h"

namespace cooper {

// The arrays, without null ones: copied if they are on another context, shared otherwise.
absl::StatusOr<ArrayMap> OnContext(const ArrayMap& arrays, const Context& context);

// Those of the names that are there.
ArrayMap Among(const ArrayMap& arrays, const std::vector<std::string>& names);

// Whether all arrays are of `dtype`.
bool AllAre(DType dtype, const ArrayMap& arrays);

// The dtypes of `inputs` that follow from those of the parameters, where they are floats but not
// float32. `named` has the dtypes of inputs that are given, which are left out.
KnownTypes OtherFloats(const Symbol& symbol, const std::vector<std::string>& inputs,
                       const ArrayMap& args, const ArrayMap& auxs, const KnownTypes& named);

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
