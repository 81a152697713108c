#ifndef COOPER_SYMBOL_RNN_RNN_PARAMS_H_
#define COOPER_SYMBOL_RNN_RNN_PARAMS_H_

// The variables of recurrent cells by name. Cells with the same container share weights: two cells
// of one prefix and one container are one layer that is used twice.

#include <map>
#include <string>

#include "symbol/graph/symbol.h"

namespace cooper {

// A container of variables. Not thread-safe.
class RNNParams {
 public:
  // `prefix` is prepended to every name.
  explicit RNNParams(std::string prefix = "") : prefix_(std::move(prefix)) {}

  // Returns the variable of that name; creates it with `options` if there is none. The options of
  // an existing variable do not change.
  Symbol Get(const std::string& name, const VariableOptions& options = {}) {
    const std::string full_name = prefix_ + name;
    auto it = variables_.find(full_name);
    if (it == variables_.end()) {
      it = variables_.emplace(full_name, Symbol::Variable(full_name, options)).first;
    }
    return it->second;
  }

  // Adds the variables of `other`, replacing own ones of the same name. The prefix stays the own
  // one.
  void Update(const RNNParams& other) {
    for (const auto& [name, variable] : other.variables_) variables_[name] = variable;
  }

  const std::string& prefix() const { return prefix_; }
  // By full name, with the prefix.
  const std::map<std::string, Symbol>& variables() const { return variables_; }

 private:
  std::string prefix_;
  std::map<std::string, Symbol> variables_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_RNN_PARAMS_H_
