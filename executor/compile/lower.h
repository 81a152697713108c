#ifndef COOPER_EXECUTOR_COMPILE_LOWER_H_
#define COOPER_EXECUTOR_COMPILE_LOWER_H_

// Lowers a symbol to a program: infers it, runs the graph passes, places the nodes, and lists the
// instructions in an order of execution.

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/compile/compile_options.h"
#include "executor/passes/graph/graph_pass.h"
#include "executor/program/program.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The result of LowerToProgram. Every value has a buffer of its own; program passes make values
// share buffers. Instructions that neither outputs nor gradients depend on are left out. An output
// of an instruction that nobody reads has the request kNull. A plain value: CompiledProgram moves
// it into itself.
struct LoweredProgram {
  Program program;
  std::vector<Shape> arg_shapes;  // by slot
  std::vector<DType> arg_types;
  std::vector<Context> arg_contexts;
  std::vector<Shape> aux_shapes;
  std::vector<DType> aux_types;
  std::vector<Context> aux_contexts;
  // Values that graph passes replaced by arguments because they depend on constants alone. They are
  // the last arguments of the program, in this order.
  std::vector<FoldedConstant> folded;
  // TypedGraph::entry_of_written for `symbol`. Null if no graph pass changed the graph.
  std::shared_ptr<const std::vector<int>> entry_of_written;
  Symbol expanded;  // TypedGraph::expanded
  // The graph that the program computes: the symbol after the graph passes, and its gradients.
  Symbol symbol;
  GradientGraph gradient;

  // Returns whether a graph pass changed the symbol.
  bool rewritten() const { return entry_of_written != nullptr; }
};

// Runs the graph passes of `symbol` and lowers the result. Program passes do not run here
// (CompiledProgram::Compile runs them). Thread-safe. The errors are those of InferGraph, and
// kUnimplemented if a node on a GPU reads an array whose shape depends on values. It takes time
// linear in the graph, but for passes that say otherwise, and no memory for arrays.
absl::StatusOr<LoweredProgram> LowerToProgram(const Symbol& symbol, const CompileOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_LOWER_H_
