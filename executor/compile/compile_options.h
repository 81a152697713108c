#ifndef COOPER_EXECUTOR_COMPILE_COMPILE_OPTIONS_H_
#define COOPER_EXECUTOR_COMPILE_COMPILE_OPTIONS_H_

// The options that a symbol is compiled with: all that Compile needs besides the symbol. They hold
// no arrays. BindOptions (run/bind_options.h) has the options of binding, from which these are
// made.

#include <map>
#include <set>
#include <string>

#include "executor/program/kernel.h"
#include "ndarray/base/context.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

// A plain value. Names are those of Symbol::ListArguments and ListAuxiliaryStates;
// CompiledProgram:: Compile refuses others with kNotFound.
struct CompileOptions {
  KnownShapes shapes;  // of arguments and auxiliary states; others are inferred
  KnownTypes types;    // of the same; a type that cannot be inferred is float32
  // The device of all nodes that group2ctx does not place.
  Context context = Context::Cpu();
  // The context of each `ctx_group`: nodes with this attribute run there, and so do the nodes of
  // their gradients (placement.h).
  std::map<std::string, Context> group2ctx;
  // If true, a node without a kernel for its context runs on cpu(0), and its values are copied
  // there and back. If false, compiling fails with kUnimplemented.
  bool fallback = false;
  // By argument name; arguments that are not named have kNull. If no gradient is requested, no
  // gradient graph is made.
  std::map<std::string, WriteReq> grad_reqs;
  // Names of arguments and auxiliary states that do not change while the program is used, such as
  // the weights of a network that only predicts. Values that depend on constants alone are computed
  // once (CompiledProgram::folded). If an auxiliary state is a constant, the program cannot run for
  // training. Ignored if gradients are requested.
  std::set<std::string> constants;
  // If true, outputs are not planned in the arena, and each run takes arrays for them
  // (BoundProgram::SetOutput). Exceptions stay where they are: outputs that are arguments, parts of
  // another array, or in the memory of another output.
  bool unbound_outputs = false;
  // Names of passes that are skipped: any of PassNames() (passes.h). If nodes are placed on several
  // contexts, no graph pass runs in any case.
  std::set<std::string> disabled_passes;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_COMPILE_OPTIONS_H_
