#ifndef COOPER_MODULE_NETWORK_BIND_ERRORS_H_
#define COOPER_MODULE_NETWORK_BIND_ERRORS_H_

// Says, in the words of who made a network and its iterator, why they do not fit together: inputs
// that one of them does not declare, and parameters whose shapes do not follow, or differ between
// buckets.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/batch/data_desc.h"
#include "module/options/module_options.h"
#include "module/parameters/parameter_store.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// kInvalidArgument unless data_shapes has the names options.data_names, in any order, and
// label_shapes none but options.label_names: with what is declared on one side alone, and how to
// declare it on the other. `args` are the symbol's arguments.
absl::Status CheckInputNames(const std::vector<DataDesc>& data_shapes,
                             const std::vector<DataDesc>& label_shapes,
                             const ModuleOptions& options, const std::vector<std::string>& args);

// Those of the symbol's arguments that are among the inputs, with their shapes.
KnownShapes ShapesOfInputs(const std::vector<std::string>& args,
                           const std::vector<DataDesc>& data_shapes,
                           const std::vector<DataDesc>& label_shapes);

// `status` of binding `symbol` to inputs of these shapes. Where it failed since not all shapes
// follow from them, it names the arguments that may be inputs too and are not declared.
absl::Status ExplainUnknownShapes(const absl::Status& status, const Symbol& symbol,
                                  const KnownShapes& inputs, const ModuleOptions& options);

// `status` of binding a bucket to inputs of these shapes, with the first parameter, if any, whose
// shape for them is not the one it has in `parameters`. owner(name) says where it got that: "bucket
// key 10".
absl::Status ExplainSharedShapes(const absl::Status& status, const Symbol& symbol,
                                 const KnownShapes& inputs, const ParameterStore& parameters,
                                 const std::function<std::string(const std::string&)>& owner);

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_BIND_ERRORS_H_
