#ifndef COOPER_EXECUTOR_RUN_BIND_OPTIONS_H_
#define COOPER_EXECUTOR_RUN_BIND_OPTIONS_H_

// The options that a symbol is bound with: shapes, arrays and devices.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/compile/compile_options.h"
#include "executor/program/kernel.h"
#include "executor/run/arena.h"
#include "executor/run/random_state.h"
#include "ndarray/array/array_map.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

class FoldedArrays;  // run/folded_arrays.h

// The options of Executor::SimpleBind and Executor::Bind. Arrays and shared objects are handles:
// copies of the options share them.
struct BindOptions {
  Context context = Context::Cpu();
  // The context of each `ctx_group`. Nodes with this attribute run there, and so do their
  // gradients; other nodes follow them or run on `context` (compile/placement.h). Values are copied
  // to where they are used.
  std::map<std::string, Context> group2ctx;
  // If true, nodes whose operator has no kernel for their context run on cpu(0), and values are
  // copied there and back. If false, binding fails for them.
  bool fallback = false;
  KnownShapes shapes;  // of data and labels; others are inferred
  // Types of variables; others are inferred, and are float32 if nothing determines them.
  KnownTypes types;
  // How gradients are written: grad_reqs by argument name, grad_req for arguments that are not
  // named. With kNull no gradient is computed.
  WriteReq grad_req = WriteReq::kWrite;
  std::map<std::string, WriteReq> grad_reqs;
  // Arrays to use; missing ones are allocated and filled with zeros. Their shapes and types count
  // as known. The caller's handles and the executor's share the elements. Arrays for names that the
  // graph does not have are ignored, so that a whole checkpoint can be passed for a part of its
  // network (Executor::unused_names). A name that resembles the name of an argument without array
  // is an error.
  ArrayMap args;
  ArrayMap grads;
  ArrayMap auxs;
  // Arguments that get no array when binding; SetArg sets one before Forward. A batch is then read
  // where it lies, without a copy.
  std::set<std::string> unbound_args;
  // If true, outputs get no memory in the arena where possible (CompileOptions::unbound_outputs);
  // SetOutput sets their arrays before Forward. Results then stay valid without a copy.
  bool unbound_outputs = false;
  // Names of arguments in `args` and auxiliary states in `auxs` that do not change while the
  // executor is used: SetArg and CopyParamsFrom refuse them. Without gradients, values that depend
  // on constants alone are computed once, when the symbol is bound (passes `winograd`,
  // `packed_weights`, `folded_batch_norms`, `packed_rnn_weights`, `transposed_weights`,
  // `constants`). If an auxiliary state is a constant, Forward refuses is_train.
  std::set<std::string> constants;
  // Values computed from constants, shared by executors with the same constants; null: the executor
  // has its own.
  std::shared_ptr<FoldedArrays> folded;
  // The arena for activations; null: the executor makes one of its own.
  std::shared_ptr<Arena> arena;
  // The arenas for activations on the contexts of group2ctx; missing arenas are created.
  std::map<Context, std::shared_ptr<Arena>> group_arenas;
  // The seed and the count of runs, which executors may share; null: a new state with
  // DefaultSeed().
  std::shared_ptr<RandomState> random;
  // Limit of the bytes of activations, outputs and arrays that binding allocates. Binding fails
  // with kResourceExhausted, before it allocates anything, if a graph needs more. The default is
  // far above any network; set a limit if you bind symbol files from untrusted sources.
  int64_t max_bytes = int64_t{1} << 40;
  // Names of passes that are skipped: any of PassNames() (compile/passes.h).
  std::set<std::string> disabled_passes;
};

// Returns the options that `symbol` is compiled with when it is bound with `options`.
CompileOptions CompileOptionsOf(const Symbol& symbol, const BindOptions& options);

// Returns the options, without arrays, arenas and random state, with which a program compiled with
// `compile` is bound.
BindOptions BindOptionsOf(const CompileOptions& compile);

// Returns the arenas in `options` for the contexts of a program, of which the first is
// options.context; null for a context without an arena.
std::vector<std::shared_ptr<Arena>> ArenasOf(const std::vector<Context>& contexts,
                                             const BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BIND_OPTIONS_H_
