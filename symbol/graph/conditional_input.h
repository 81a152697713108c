#ifndef COOPER_SYMBOL_GRAPH_CONDITIONAL_INPUT_H_
#define COOPER_SYMBOL_GRAPH_CONDITIONAL_INPUT_H_

// Finds inputs that an operator has only if an attribute enables them: data_lengths of CTCLoss with
// use_data_lengths, bias unless no_bias. The attribute is found by trying each boolean and each
// enumeration of the operator's schema, one at a time.

#include <functional>
#include <string>

#include "symbol/schema/op.h"

namespace cooper {

// Sets the attribute that enables the input called `name` (use_data_lengths for data_lengths), if
// there is one and `call` does not set it. Returns whether the call has that input afterwards. An
// attribute that enables an input by being false, such as no_bias, is not set.
bool EnableInput(const std::string& name, OpCall* call);

// Returns "; with use_data_lengths=True it has input 'data_lengths'", for the first attribute that
// gives the call an input that satisfies `is_meant`; empty if none does. For errors.
std::string AttributeForInput(const OpCall& call,
                              const std::function<bool(const std::string& name)>& is_meant);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_CONDITIONAL_INPUT_H_
