#ifndef COOPER_MODULE_NETWORK_BIND_ERRORS_H_
#define COOPER_MODULE_NETWORK_BIND_ERRORS_H_

// Explains why a network and its iterator do not fit together: inputs that one of them does not
// declare, and parameters whose shapes cannot be inferred or differ between buckets.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/batch/data_desc.h"
#include "module/options/module_options.h"
#include "module/parameters/parameters.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// kInvalidArgument unless data_shapes has exactly the names options.data_names, in any order, and
// label_shapes has no names but options.label_names. The message lists the names that only one side
// declares, and how to declare them on the other. `args` are the symbol's arguments.
absl::Status CheckInputNames(const std::vector<DataDesc>& data_shapes,
                             const std::vector<DataDesc>& label_shapes,
                             const ModuleOptions& options, const std::vector<std::string>& args);

// Returns the shapes of the inputs that are arguments of the symbol.
KnownShapes ShapesOfInputs(const std::vector<std::string>& args,
                           const std::vector<DataDesc>& data_shapes,
                           const std::vector<DataDesc>& label_shapes);

// Returns `status`, the error of binding `symbol` to inputs of these shapes. If shapes could not be
// inferred from them, adds the arguments that may be undeclared inputs.
absl::Status ExplainUnknownShapes(const absl::Status& status, const Symbol& symbol,
                                  const KnownShapes& inputs, const ModuleOptions& options);

// Returns `status`, the error of binding a bucket to inputs of these shapes, and adds the first
// parameter, if any, whose inferred shape differs from the one in `parameters`. owner(name) says
// which bucket gave it that shape: "bucket key 10".
absl::Status ExplainSharedShapes(const absl::Status& status, const Symbol& symbol,
                                 const KnownShapes& inputs, const Parameters& parameters,
                                 const std::function<std::string(const std::string&)>& owner);

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_BIND_ERRORS_H_
