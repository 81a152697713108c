#ifndef COOPER_SYMBOL_JSON_LEGACY_JSON_H_
#define COOPER_SYMBOL_JSON_LEGACY_JSON_H_

// Upgrades the graph of a symbol file of an older MXNet to 1.9.1, as MXNet itself does
// (src/nnvm/legacy_json_util.cc):
//   before 1.9.1  lr_mult, wd_mult, ctx_group, force_mirroring and mirror_stage become __lr_mult__
//                 and so on; weight_lr_mult on an operator moves to its variable for weight
//   before 0.9.0  variables for auxiliary states, which were not written, are added
//   before 0.9.4  variables say how they are to be initialized where their operator wants it so
//   before 0.9.5  axis=-1 of argmax and argmin, which meant that there is no axis, is dropped

#include "absl/status/status.h"
#include "symbol/json/json_graph.h"
#include "symbol/json/load_limits.h"

namespace cooper {

// Upgrades `graph` in place and sets graph->version to that of 1.9.1. A graph of 1.9.1 or newer is
// not changed. Errors: those of MakeOpCall, and kResourceExhausted before additions exceed
// `limits`.
absl::Status UpgradeJsonGraph(const LoadLimits& limits, JsonGraph* graph);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_LEGACY_JSON_H_
