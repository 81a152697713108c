#ifndef COOPER_SYMBOL_GRAPH_SYMBOL_H_
#define COOPER_SYMBOL_GRAPH_SYMBOL_H_

// A symbolic expression: one or more outputs of an immutable graph. Symbols are values and cheap to
// copy; an operation on symbols shares their graphs and changes none of them.
//
//   Symbol data = Symbol::Variable("data");
//   COOPER_ASSIGN_OR_RETURN(Symbol fc1, Symbol::Create("FullyConnected",
//       {.name = "fc1", .inputs = {data}, .attrs = {{"num_hidden", 128}}}));
//   fc1.ListArguments();  // data, fc1_weight, fc1_bias
//
// Create, with attributes by name, is for programs that read networks. Networks written in C++ use
// the functions of symbol/op/*.h, a header for each family of operators:
//
//   Symbol fc1 = op::FullyConnected(data, {.num_hidden = 128, .name = "fc1"});
//
// These functions return no StatusOr. If a symbol could not be created, it keeps the error, and so
// do all symbols built from it: they have no outputs, and status() is the first error, with node
// and operator. A function that takes a finished network (shape inference, binding, modules,
// saving) fails with that error.
//
// MXNet: python/mxnet/symbol/symbol.py.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/attr_values.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

class Symbol;

// Attributes of a variable. Each is stored as a hidden attribute, such as __shape__.
struct VariableOptions {
  PartialShape shape;          // a default, used where the caller gives no shape
  std::optional<DType> dtype;  // a default, used where the caller gives no dtype
  std::optional<double> lr_mult;
  std::optional<double> wd_mult;
  std::string init;  // an initializer, as MXNet's JSON: ["zero", {}]
  AttrValues attrs;  // any others
};

// The arguments of an operator call.
struct OpArgs {
  std::string name;                     // empty: an automatic one, "fullyconnected0"
  std::vector<Symbol> inputs;           // the first inputs, in order
  std::map<std::string, Symbol> named;  // others, by the operator's name for them
  // The operator's parameters, and hidden attributes (__x__), as numbers, bools and text.
  AttrValues attrs;
  // The stem of an automatic name; empty: the operator name as given to Create, in lower case.
  std::string hint = {};
};

// The names of a symbol's variables, in the order of ListVariables.
struct VariableNames {
  std::vector<std::string> args;
  std::vector<std::string> auxs;  // auxiliary states
};

// A const Symbol may be used by several threads at a time.
class Symbol {
 public:
  // Creates a symbol without outputs.
  Symbol() = default;
  explicit Symbol(std::vector<NodeEntry> outputs) : outputs_(std::move(outputs)) {}
  // Creates a symbol that keeps `error`, which must not be OK.
  explicit Symbol(absl::Status error);
  // Returns the symbol, or a symbol that keeps the error, if there is one.
  static Symbol Keep(absl::StatusOr<Symbol> symbol);

  // Creates a variable, a placeholder for an array that the caller binds: data, a label, a
  // parameter. Attributes of AttrScope are added. The name should be unique in the graphs that use
  // it.
  static Symbol Variable(const std::string& name, const VariableOptions& options = {});

  // Applies an operator. Inputs that are not given become variables called name_input, with a copy
  // of the operator's attributes, as in MXNet. The result has the operator's visible outputs.
  //
  // Fails with the error of an input that has one; with kNotFound if the operator is not linked,
  // with kInvalidArgument, naming operator and node, for wrong attributes, unknown or superfluous
  // inputs, an input of several outputs, or two variables of one name in the graph.
  static absl::StatusOr<Symbol> Create(absl::string_view op, const OpArgs& args);

  // Returns all outputs of all symbols, in order. Fails with kInvalidArgument if two variables
  // share a name, and with the first error among the symbols.
  static absl::StatusOr<Symbol> Group(absl::Span<const Symbol> symbols);

  // Returns a copy of the graph in which the named variables are replaced by symbols of one output
  // each. Fails with kNotFound for a name that is no variable of this symbol.
  absl::StatusOr<Symbol> Compose(const std::map<std::string, Symbol>& replacements) const;

  // Returns the first error, with node and operator, if the symbol could not be created; else OK.
  const absl::Status& status() const { return status_; }

  // The outputs, in order; empty if there is an error.
  const std::vector<NodeEntry>& outputs() const { return outputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  // Returns output `i` alone. If there is no such output, the result keeps an error: status(), or
  // kInvalidArgument with the number of outputs.
  Symbol operator[](int i) const;
  // Returns the output of that name (as ListOutputs gives it). Fails with kNotFound, listing the
  // names, and with kInvalidArgument, naming both nodes, if two outputs have the name.
  absl::StatusOr<Symbol> Get(absl::string_view output_name) const;

  // Returns the name of the node if all outputs belong to one node; else empty.
  std::string name() const;

  // Returns names in the order of a depth-first walk from the outputs, inputs first.
  VariableNames ListVariables() const;
  std::vector<std::string> ListArguments() const;
  std::vector<std::string> ListAuxiliaryStates() const;
  // Returns arguments and auxiliary states together.
  std::vector<std::string> ListInputs() const;
  // Returns names such as "fc1_output" and "split_output0"; a variable's output has its name.
  std::vector<std::string> ListOutputs() const;

  // Returns every output of every node of the graph.
  Symbol GetInternals() const;
  // Returns the inputs of the nodes that the outputs belong to; no outputs if there are none.
  Symbol GetChildren() const;

  // Returns an attribute of the node; nullopt if it is not set or the outputs belong to several
  // nodes. A hidden attribute is found with and without its underscores.
  std::optional<std::string> Attr(const std::string& key) const;
  // Returns all attributes of the first output's node, as stored; empty without outputs.
  AttrMap ListAttr() const;
  // Returns the attributes of every node that has some, by the node's name. Operator parameters at
  // their defaults are left out; __lr_mult__, __wd_mult__, __ctx_group__ and the mirroring
  // attributes are listed without underscores too. Nodes of one name share an entry, as in MXNet:
  // of several values for one attribute the last one is listed.
  std::map<std::string, AttrMap> AttrDict() const;
  // Returns the attributes of every variable that has some, by its name. Unlike in AttrDict no
  // values are lost, since variables of one graph have different names.
  std::map<std::string, AttrMap> VariableAttrDict() const;
  // Returns this symbol with attributes added to its node (it must have only one). Other symbols
  // keep the node unchanged. Fails with kInvalidArgument if the operator would have other inputs or
  // outputs.
  absl::StatusOr<Symbol> WithAttrs(const AttrValues& attrs) const;

 private:
  std::vector<NodeEntry> outputs_;
  absl::Status status_;
};

// Fails with kInvalidArgument, with the name, if two variables that `heads` reach share a name.
// O(size of the graph) time.
absl::Status CheckVariableNames(const std::vector<NodeEntry>& heads);

// Returns the name that MXNet gives an output: "fc1_output". Lists the names of all outputs of the
// node: for many of them call OutputNames, which does so once. A null entry has an empty name.
std::string OutputName(const NodeEntry& entry);
std::vector<std::string> OutputNames(absl::Span<const NodeEntry> entries);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_SYMBOL_H_
