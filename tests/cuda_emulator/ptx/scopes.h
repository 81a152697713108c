#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_SCOPES_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_SCOPES_H_

// The names in a function's body, in scopes that braces nest.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tests/cuda_emulator/ptx/syntax.h"

namespace cooper::ptx {

// A stack of scopes. Holds views of the module's text.
class Scopes {
 public:
  Scopes() { Enter(); }

  void Enter() { scopes_.emplace_back(); }
  void Leave() { scopes_.pop_back(); }
  int depth() const { return static_cast<int>(scopes_.size()); }

  void Add(std::string_view name, const Symbol& symbol) { scopes_.back().names[name] = symbol; }
  // Adds the registers prefix0 .. prefix<count-1>, numbered from `first` on.
  void AddRange(std::string_view prefix, int first, int count) {
    scopes_.back().ranges.push_back({prefix, first, count});
  }
  // Returns the symbol of that name in the innermost scope that has one.
  std::optional<Symbol> Find(std::string_view name) const;

 private:
  struct Range {
    std::string_view prefix;
    int first = 0;
    int count = 0;
  };
  struct Scope {
    absl::flat_hash_map<std::string_view, Symbol> names;
    std::vector<Range> ranges;
  };

  std::vector<Scope> scopes_;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_SCOPES_H_
