#ifndef COOPER_EXECUTOR_COMPILE_COMPILE_OPTIONS_H_
#define COOPER_EXECUTOR_COMPILE_COMPILE_OPTIONS_H_

// The options that a symbol is compiled with.

#include <map>
#include <set>
#include <string>

#include "executor/program/kernel.h"
#include "ndarray/base/context.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

struct CompileOptions {
  KnownShapes shapes;  // of arguments and auxiliary states; the rest is inferred
  KnownTypes types;    // likewise; what cannot be inferred is float32
  Context context = Context::Cpu();
  // Where the nodes of a `ctx_group` are placed, with their gradients (placement.h).
  std::map<std::string, Context> group2ctx;
  // Whether nodes for which their context has no kernel run on cpu(0): values are copied there and
  // back. Else they are an error.
  bool fallback = false;
  // By name of argument; missing ones are kNull. Empty: no gradient graph is made.
  std::map<std::string, WriteReq> grad_reqs;
  // Arguments and auxiliary states whose values stay as they are for as long as the program is run,
  // such as the weights of a network that only predicts: what follows from them alone is computed
  // once (CompiledProgram::folded), and with an auxiliary state among them the program is not run
  // for training. Without an effect where gradients are asked for.
  std::set<std::string> constants;
  // Outputs are no part of the plan, where that can be: each run is given arrays for them
  // (BoundProgram::SetOutput). An output that is an argument, a part of another array, or in one
  // place with another output stays as it is.
  bool unbound_outputs = false;
  // Passes to leave out, of those that PassNames() gives. Where parts are placed on other contexts
  // no graph pass is run.
  std::set<std::string> disabled_passes;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_COMPILE_OPTIONS_H_
