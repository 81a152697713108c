#ifndef COOPER_TESTS_FUZZ_RANDOM_NETWORK_H_
#define COOPER_TESTS_FUZZ_RANDOM_NETWORK_H_

// Builds small networks of arbitrary operators from a fuzzer's bytes: with attributes that their
// schemas allow, arrays with extents of 0 and 1, every dtype and gradient request, and numbers of
// any size.

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
  // The results of a run: the status of each step, and the arrays that could be read afterwards, in
  // CPU memory.
  struct Results {
    absl::Status bind, forward, backward;
    std::vector<std::pair<std::string, NDArray>> arrays;
  };

  // With `tame` numbers are finite and small.
  explicit RandomNetwork(FuzzInput& input, bool tame = false);

  // Builds the network; returns false if the operators reject the input's choices.
  bool Make();
  // Checks that the network is the same once saved and loaded.
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
