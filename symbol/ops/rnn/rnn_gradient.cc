#include "symbol/ops/rnn/rnn_gradient.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

OpSchema::Names RNNBackwardInputNames(const OpSchema::Names& visible_outputs,
                                      const OpSchema::Names& inputs) {
  OpSchema::Names names;
  for (const std::string& name : visible_outputs) names.push_back(absl::StrCat(name, "_grad"));
  names.insert(names.end(), inputs.begin(), inputs.end());
  names.push_back("output");
  names.push_back("reserve");
  return names;
}

absl::StatusOr<std::vector<NodeEntry>> RNNBackwardInputs(GradientContext& c) {
  const int num_visible = c.num_outputs() - 1;
  std::vector<NodeEntry> inputs;
  for (int i = 0; i < num_visible; ++i) {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(i));
    inputs.push_back(head);
  }
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  inputs.push_back(c.output(0));
  inputs.push_back(c.output(num_visible));
  return inputs;
}

}  // namespace cooper
