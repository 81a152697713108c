#ifndef COOPER_MODULE_NETWORK_LABEL_CHECKS_H_
#define COOPER_MODULE_NETWORK_LABEL_CHECKS_H_

// Checks that a network to be trained has its labels. Without them the labels are zeros, and the
// network learns class 0.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/batch/data_desc.h"
#include "module/options/module_options.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// kInvalidArgument, naming it, if a label would be trained as a parameter: if the label of a loss
// is not among options.label_names, or if one of these is no argument of `symbol` and another
// argument may be meant by it. `args` are the symbol's arguments.
absl::Status CheckLabelNames(const Symbol& symbol, const std::vector<std::string>& args,
                             const ModuleOptions& options, const ModuleBindOptions& bind);

// kInvalidArgument, naming them, if the network was bound without one of its `labels` (`bound` are
// its label_shapes), or if the batch has none.
absl::Status CheckLabels(const std::vector<std::string>& labels, const std::vector<DataDesc>& bound,
                         bool batch_has_labels);

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_LABEL_CHECKS_H_
