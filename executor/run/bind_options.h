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

struct BindOptions {
  Context context = Context::Cpu();
  // Where the nodes of a `ctx_group` are placed, with their gradients; the others follow them or
  // are on `context` (compile/placement.h). Values are copied to where they are used.
  std::map<std::string, Context> group2ctx;
  // Nodes whose operator has no kernel for their context run on cpu(0), at the cost of copies there
  // and back, instead of being an error.
  bool fallback = false;
  KnownShapes shapes;  // of data and labels; the others follow
  KnownTypes types;
  // How gradients are written: grad_reqs by argument name, grad_req for the arguments that it does
  // not name. kNull: no gradient is computed.
  WriteReq grad_req = WriteReq::kWrite;
  std::map<std::string, WriteReq> grad_reqs;
  // Arrays to use; what is missing is allocated, filled with zeros. Their shapes and types count as
  // known. The caller's handles and the executor's share the elements. Arrays of names that the
  // graph does not have, as a whole checkpoint has them for a part of its network, are left out
  // (Executor::unused_names); one that resembles a name which has no array is taken for a mistake.
  ArrayMap args;
  ArrayMap grads;
  ArrayMap auxs;
  // Arguments that get no array here: SetArg gives them one before Forward. Batches are then read
  // where they are, without a copy.
  std::set<std::string> unbound_args;
  // Outputs get no place in the arena where that can be (CompileOptions::unbound_outputs):
  // SetOutput gives them one before Forward. Results then last without a copy.
  bool unbound_outputs = false;
  // Arguments that `args` has, and auxiliary states that `auxs` has, whose values stay as they are
  // for as long as the executor is used: SetArg and CopyParamsFrom refuse them. Without gradients,
  // what follows from them alone is computed once, when the symbol is bound (passes `winograd`,
  // `packed_weights`, `folded_batch_norms`, `packed_rnn_weights`, `transposed_weights`,
  // `constants`), and with an auxiliary state among them Forward refuses is_train.
  std::set<std::string> constants;
  // Where executors with the same constants share what follows from them; null: one of its own.
  std::shared_ptr<FoldedArrays> folded;
  // Where activations live; null: an arena of its own.
  std::shared_ptr<Arena> arena;
  // Where activations live on the contexts of group2ctx; missing arenas are created.
  std::map<Context, std::shared_ptr<Arena>> group_arenas;
  // Null: seed 0.
  std::shared_ptr<RandomState> random;
  // Activations and arrays that are not given may take so many bytes together; kResourceExhausted,
  // before anything is allocated, for a graph that needs more. The default is far above any
  // network: who binds symbol files of strangers sets what they may cost.
  int64_t max_bytes = int64_t{1} << 40;
  // Passes to leave out, of those that PassNames() gives.
  std::set<std::string> disabled_passes;
};

// Returns the options that `symbol` is compiled with when it is bound with `options`.
CompileOptions CompileOptionsOf(const Symbol& symbol, const BindOptions& options);

// The options without arrays, arenas and random numbers that bind what was compiled with `compile`.
BindOptions BindOptionsOf(const CompileOptions& compile);

// By context of a program, of which the first is options.context: the arenas that `options` has,
// null where it has none.
std::vector<std::shared_ptr<Arena>> ArenasOf(const std::vector<Context>& contexts,
                                             const BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BIND_OPTIONS_H_
