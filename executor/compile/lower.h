#ifndef COOPER_EXECUTOR_COMPILE_LOWER_H_
#define COOPER_EXECUTOR_COMPILE_LOWER_H_

// Turns a symbol with known argument shapes into a program: infers shapes and types, runs the graph
// passes, adds the gradient graph, and lists what has to be computed in an order in which it can
// be.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel.h"
#include "executor/program.h"
#include "ndarray/context.h"
#include "symbol/infer_shape.h"
#include "symbol/infer_type.h"
#include "symbol/symbol.h"

namespace cooper {

struct LowerOptions {
  KnownShapes shapes;  // of arguments and auxiliary states; the rest is inferred
  KnownTypes types;    // likewise; what cannot be inferred is float32
  Context context = Context::Cpu();
  std::map<std::string, Context> group2ctx;  // of nodes with a `ctx_group` attribute
  // By name of argument; missing ones are kNull. Empty: no gradient graph is made.
  std::map<std::string, WriteReq> grad_reqs;
  // Graph passes to leave out, by name. Where parts are placed on other contexts none is run.
  std::set<std::string> disabled_passes;
};

// Every value has a buffer of its own; passes share them. Instructions of no use to outputs and
// gradients are left out; an output that nobody reads has the request kNull.
struct LoweredProgram {
  Program program;
  std::vector<Shape> arg_shapes;  // by slot
  std::vector<DType> arg_types;
  std::vector<Context> arg_contexts;
  std::vector<Shape> aux_shapes;
  std::vector<DType> aux_types;
  std::vector<Context> aux_contexts;
  bool rewritten = false;  // whether a graph pass found something to do
};

// Errors are those of InferShape, InferType and MakeGradientGraph; kNotFound if grad_reqs names
// something that is no argument.
absl::StatusOr<LoweredProgram> LowerToProgram(const Symbol& symbol, const LowerOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_LOWER_H_
