#ifndef COOPER_MODULE_OPTIONS_SYM_GEN_H_
#define COOPER_MODULE_OPTIONS_SYM_GEN_H_

// The function that returns the network of a bucket. A BucketingModule trains with it, and a
// Predictor predicts with it.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A bucket's network, and the arguments that batches provide. Names are those of the symbol's
// variables, in the order of the batches' arrays. A network without labels has an empty
// label_names.
struct BucketSymbol {
  Symbol symbol;
  std::vector<std::string> data_names = {"data"};
  std::vector<std::string> label_names = {"softmax_label"};
};

// Returns the network of a bucket: a function of the key that returns a BucketSymbol, just the
// Symbol where names are the defaults, or a StatusOr of either. An error kept inside the symbol
// (Symbol::status) has the same effect as a returned one. Parameters of one name must have one
// shape in all networks.
class SymGen : public std::function<absl::StatusOr<BucketSymbol>(const BucketKey& key)> {
 public:
  using Function = std::function<absl::StatusOr<BucketSymbol>(const BucketKey& key)>;

  SymGen() = default;
  template <typename F, typename Result = std::invoke_result_t<F&, const BucketKey&>,
            typename = std::enable_if_t<!std::is_base_of_v<SymGen, std::decay_t<F>>>>
  SymGen(F make) : Function(Adapt<F, Result>(std::move(make))) {}  // NOLINT: from any lambda

 private:
  template <typename F, typename Result>
  static Function Adapt(F make) {
    if constexpr (std::is_same_v<Result, Symbol>) {
      return [make = std::move(make)](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
        return BucketSymbol{.symbol = make(key)};
      };
    } else if constexpr (std::is_same_v<Result, absl::StatusOr<Symbol>>) {
      return [make = std::move(make)](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
        return BucketSymbol{.symbol = Symbol::Keep(make(key))};
      };
    } else {
      return Function(std::move(make));
    }
  }
};

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_SYM_GEN_H_
