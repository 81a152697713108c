#ifndef COOPER_SYMBOL_GRAPH_CONDITIONAL_INPUT_H_
#define COOPER_SYMBOL_GRAPH_CONDITIONAL_INPUT_H_

// Inputs that an operator has only because an attribute says so: data_lengths of CTCLoss with
// use_data_lengths, bias unless no_bias. What attribute that is follows from the operator's schema
// by trying: each that is true or false, or has names for values, alone.

#include <functional>
#include <string>

#include "symbol/schema/op.h"

namespace cooper {

// Sets the attribute that asks for the input called `name` (use_data_lengths for data_lengths), if
// one does and `call` does not say what it is. Returns whether the call has that input then. An
// attribute that is to be false for it, such as no_bias, asks for nothing.
bool AskForInput(const std::string& name, OpCall* call);

// For errors: "; with use_data_lengths=True it has input 'data_lengths'", of the first attribute
// that gives the call an input that `is_meant`; empty if none does.
std::string AttributeForInput(const OpCall& call,
                              const std::function<bool(const std::string& name)>& is_meant);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_CONDITIONAL_INPUT_H_
