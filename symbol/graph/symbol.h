#ifndef COOPER_SYMBOL_GRAPH_SYMBOL_H_
#define COOPER_SYMBOL_GRAPH_SYMBOL_H_

// A symbolic expression: one or more outputs of an immutable graph. Symbols are values, cheap to
// copy; making a symbol from others shares their graphs and changes none of them.
//
//   Symbol data = Symbol::Variable("data");
//   COOPER_ASSIGN_OR_RETURN(Symbol fc1, Symbol::Create("FullyConnected",
//       {.name = "fc1", .inputs = {data}, .attrs = {{"num_hidden", 128}}}));
//   fc1.ListArguments();  // data, fc1_weight, fc1_bias
//
// Create, with attributes by name, is for what reads networks. Those that are written in C++ use
// the functions of symbol/op/*.h, a header for each family of operators:
//
//   Symbol fc1 = op::FullyConnected(data, {.num_hidden = 128, .name = "fc1"});
//
// These return no StatusOr. What goes wrong is kept by the symbol that could not be made, and by
// all that are made from it: it has no outputs, and status() is the first error, with node and
// operator. Whatever takes a finished network (inference of shapes, binding, modules, saving)
// fails with that error.
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

struct VariableOptions {
  PartialShape shape;          // a default, used where nobody gives a shape
  std::optional<DType> dtype;  // likewise
  std::optional<double> lr_mult;
  std::optional<double> wd_mult;
  std::string init;  // an initializer, as MXNet's JSON: ["zero", {}]
  AttrValues attrs;  // any others
};

struct OpArgs {
  std::string name;                     // empty: an automatic one, "fullyconnected0"
  std::vector<Symbol> inputs;           // the first inputs, in order
  std::map<std::string, Symbol> named;  // others, by the operator's name for them
  // The operator's parameters, and hidden attributes (__x__), as numbers, bools and text.
  AttrValues attrs;
  // What an automatic name begins with; empty: the operator as it was called, in lower case.
  std::string hint = {};
};

struct VariableNames {
  std::vector<std::string> args;
  std::vector<std::string> auxs;  // auxiliary states
};

class Symbol {
 public:
  // Without outputs.
  Symbol() = default;
  explicit Symbol(std::vector<NodeEntry> outputs) : outputs_(std::move(outputs)) {}
  // The symbol that could not be made. `error` is not OK.
  explicit Symbol(absl::Status error);
  // The symbol, or one that keeps the error.
  static Symbol Keep(absl::StatusOr<Symbol> symbol);

  static Symbol Variable(const std::string& name, const VariableOptions& options = {});

  // Applies an operator. Inputs that are not given become variables called name_input, with a copy
  // of the operator's attributes, as in MXNet. The result has the operator's visible outputs.
  //
  // Fails with the error of an input that has one; with kNotFound if the operator is not linked,
  // with kInvalidArgument, naming operator and node, for wrong attributes, unknown or superfluous
  // inputs, an input of several outputs, or two variables of one name in the graph.
  static absl::StatusOr<Symbol> Create(absl::string_view op, const OpArgs& args);

  // All outputs of all symbols, in order. kInvalidArgument if two variables share a name; the first
  // error among the symbols.
  static absl::StatusOr<Symbol> Group(absl::Span<const Symbol> symbols);

  // A copy of the graph in which the named variables are replaced by symbols of one output each.
  // kNotFound for a name that is no variable of this symbol.
  absl::StatusOr<Symbol> Compose(const std::map<std::string, Symbol>& replacements) const;

  // Why the symbol could not be made: the first error, with node and operator. OK otherwise.
  const absl::Status& status() const { return status_; }

  // None if there is an error.
  const std::vector<NodeEntry>& outputs() const { return outputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  // Output `i` alone. Without such an output, a symbol that keeps the error: status(), or
  // kInvalidArgument with the outputs there are.
  Symbol operator[](int i) const;
  // The output of that name (as ListOutputs gives it). kNotFound, with the names there are;
  // kInvalidArgument, naming both nodes, if two outputs have the name.
  absl::StatusOr<Symbol> Get(absl::string_view output_name) const;

  // The name of the node, if all outputs are of one node; else empty.
  std::string name() const;

  // Names in the order in which a walk from the outputs, depth first, comes past them.
  VariableNames ListVariables() const;
  std::vector<std::string> ListArguments() const;
  std::vector<std::string> ListAuxiliaryStates() const;
  // Arguments and auxiliary states together.
  std::vector<std::string> ListInputs() const;
  // "fc1_output", "split_output0", a variable's own name.
  std::vector<std::string> ListOutputs() const;

  // Every output of every node of the graph.
  Symbol GetInternals() const;
  // The inputs of the nodes that the outputs belong to; without outputs if there are none.
  Symbol GetChildren() const;

  // The attribute of the node; nullopt if there is none, or outputs of several nodes. A hidden
  // attribute is found with and without its underscores.
  std::optional<std::string> Attr(const std::string& key) const;
  AttrMap ListAttr() const;
  // Attributes of every node that has some, by the node's name. Parameters of operators are listed
  // with their defaults left out; __lr_mult__, __wd_mult__, __ctx_group__ and the mirroring
  // attributes also without underscores. Nodes of one name are listed as one, as in MXNet: of an
  // attribute that several have, the last one's value is there.
  std::map<std::string, AttrMap> AttrDict() const;
  // The same of variables alone, whose names are unique, whatever operators are called.
  std::map<std::string, AttrMap> VariableAttrDict() const;
  // This symbol with attributes added to its node (which must be one). Other symbols keep the node
  // without them. kInvalidArgument if the operator would have other inputs or outputs.
  absl::StatusOr<Symbol> WithAttrs(const AttrValues& attrs) const;

 private:
  std::vector<NodeEntry> outputs_;
  absl::Status status_;
};

// kInvalidArgument, with the name, if two variables that `heads` reach share one. Takes time in
// proportion to the graph.
absl::Status CheckVariableNames(const std::vector<NodeEntry>& heads);

// "fc1_output": the name that MXNet gives an output. Makes those of all outputs of the node: for
// many of them call OutputNames, which does so once. A null entry has an empty name.
std::string OutputName(const NodeEntry& entry);
std::vector<std::string> OutputNames(absl::Span<const NodeEntry> entries);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_SYMBOL_H_
