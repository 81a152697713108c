#ifndef COOPER_MODULE_OPTIONS_SYM_GEN_H_
#define COOPER_MODULE_OPTIONS_SYM_GEN_H_

// The function that makes the network of a bucket: what a BucketingModule trains with, and a
// Predictor predicts with.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A bucket's network and which of its arguments batches give.
struct BucketSymbol {
  Symbol symbol;
  std::vector<std::string> data_names = {"data"};
  std::vector<std::string> label_names = {"softmax_label"};
};

// Makes the network of a bucket: a function of the key that returns a BucketSymbol or, where names
// are the usual ones, just the Symbol; or either in a StatusOr. An error that the symbol keeps is
// as good as one that is returned.
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
