#include "docs/two_layers.h"

#include "ndarray/status_macros.h"

namespace cooper {

absl::StatusOr<Symbol> TwoLayers() {
  const Symbol data = Symbol::Variable("data");
  COOPER_ASSIGN_OR_RETURN(
      const Symbol fc1,
      Symbol::Create("FullyConnected",
                     {.name = "fc1", .inputs = {data}, .attrs = {{"num_hidden", "128"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol act,
      Symbol::Create("Activation", {.inputs = {fc1}, .attrs = {{"act_type", "relu"}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol fc2,
      Symbol::Create("FullyConnected",
                     {.name = "fc2", .inputs = {act}, .attrs = {{"num_hidden", "10"}}}));
  return Symbol::Create("SoftmaxOutput", {.name = "softmax", .inputs = {fc2}});
}

}  // namespace cooper
