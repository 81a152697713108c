#ifndef COOPER_TESTS_FUZZ_RANDOM_NETWORK_H_
#define COOPER_TESTS_FUZZ_RANDOM_NETWORK_H_

// Small networks of operators of any kind that follow from a fuzzer's bytes: with attributes that
// their schemas allow, arrays with extents of 0 and 1, every dtype and gradient request, and
// numbers of any size.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "executor/executor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/operator_fields.h"

namespace cooper {

class RandomNetwork {
 public:
  // What a run gave: how its steps ended, and what could be read after them, in the CPU's memory.
  struct Results {
    absl::Status bind, forward, backward;
    std::vector<std::pair<std::string, NDArray>> arrays;
  };

  // With `tame` numbers are finite and small.
  explicit RandomNetwork(FuzzInput& input, bool tame = false);

  // False if the operators do not allow what the input wants of them.
  bool Make();
  // That the network is the same once saved and loaded.
  void CheckSaving() const;
  // Binds it, and runs it forward and backward in training, then forward in prediction.
  Results Run(Context context = Context::Cpu(), const std::set<std::string>& disabled_passes = {});

  const Symbol& symbol() const { return symbol_; }

 private:
  int64_t SomeExtent() { return input_.OneIn(12) ? 0 : input_.Between(1, 5); }
  PartialShape SomeShape();
  AttrMap SomeAttrs(const OperatorFields& op);
  bool AddNode(int k);
  void AddVariable(const std::string& name, bool leads, bool is_first);
  BindOptions Options() const;
  uint64_t SomeNumbers();
  void FillAll(const ArrayMap& arrays, uint64_t kind);
  void RunBackward(Executor& executor, uint64_t kind, Results& results);

  FuzzInput& input_;
  const bool tame_;
  std::vector<int64_t> base_;
  DType dtype_;
  uint64_t seed_ = 0;
  std::vector<Symbol> outputs_;
  Symbol symbol_;
  KnownShapes shapes_;
  KnownTypes types_;
  std::map<std::string, WriteReq> requests_;
};

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_RANDOM_NETWORK_H_
