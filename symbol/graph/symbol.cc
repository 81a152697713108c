#include "symbol/graph/symbol.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/conditional_input.h"
#include "symbol/graph/hidden_attrs.h"
#include "symbol/graph/name_manager.h"
#include "symbol/schema/input_attrs.h"
#include "symbol/schema/variable_set.h"

namespace cooper {
namespace {

Symbol MakeVariable(std::string name, AttrMap attrs) {
  OpCall call;
  call.attrs = std::move(attrs);
  return Symbol({NodeEntry{Node::Make({.name = std::move(name), .call = std::move(call)}), 0}});
}

// Returns the operator with its parsed parameters.
absl::StatusOr<OpCall> MakeCall(absl::string_view op_name, const OpArgs& args) {
  AttrMap attrs = AttrScope::Current();
  for (const auto& [key, value] : args.attrs) attrs[StoredKey(key)] = value;
  COOPER_ASSIGN_OR_RETURN(
      OpCall call, MakeOpCall(op_name, std::move(attrs), args.inputs.size() + args.named.size()));
  COOPER_RETURN_IF_ERROR(RefuseGradientOp(*call.op));
  COOPER_RETURN_IF_ERROR(call.op->CheckSubgraphs(call));
  return call;
}

absl::Status UnknownInput(const OpCall& call, const OpSchema::Names& names,
                          const std::string& key) {
  return absl::InvalidArgumentError(
      absl::StrCat("has no input '", key, "'; its inputs are ", JoinNames(names),
                   AttributeForInput(call, [&](const std::string& input) { return input == key; }),
                   DidYouMean(key, names)));
}

// Returns the entries for the operator's inputs, which are called `names`: the given ones, and new
// variables for the rest.
absl::StatusOr<std::vector<NodeEntry>> BindInputs(const OpCall& call, const OpSchema::Names& names,
                                                  const std::string& name, const OpArgs& args) {
  if (args.inputs.size() + args.named.size() > names.size()) {
    for (const auto& [key, symbol] : args.named) {
      if (!absl::c_linear_search(names, key)) return UnknownInput(call, names, key);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "takes ", names.size(), " inputs (", JoinNames(names), "), but ",
        args.inputs.size() + args.named.size(), " came",
        AttributeForInput(
            call, [&](const std::string& input) { return !absl::c_linear_search(names, input); })));
  }
  std::vector<NodeEntry> inputs(names.size());
  auto set = [&](size_t i, const Symbol& symbol) -> absl::Status {
    if (symbol.num_outputs() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("input '", names[i],
                                                     "' must be one output, but a symbol of ",
                                                     symbol.num_outputs(), " outputs came"));
    }
    if (inputs[i]) {
      return absl::InvalidArgumentError(absl::StrCat("input '", names[i], "' is given twice"));
    }
    inputs[i] = symbol.outputs()[0];
    return absl::OkStatus();
  };
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    COOPER_RETURN_IF_ERROR(set(i, args.inputs[i]));
  }
  for (const auto& [key, symbol] : args.named) {
    const auto it = std::find(names.begin(), names.end(), key);
    if (it == names.end()) return UnknownInput(call, names, key);
    COOPER_RETURN_IF_ERROR(set(static_cast<size_t>(it - names.begin()), symbol));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (inputs[i]) continue;
    if (const auto reason = RequiredReason(call, static_cast<int>(i))) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", names[i], "' is missing: ", *reason));
    }
    AttrMap attrs = call.attrs;
    attrs.merge(AttrsOfInput(call, static_cast<int>(i)));
    inputs[i] = MakeVariable(absl::StrCat(name, "_", names[i]), std::move(attrs)).outputs()[0];
  }
  return inputs;
}

}  // namespace

Symbol::Symbol(absl::Status error) : status_(std::move(error)) {
  CHECK(!status_.ok()) << "a symbol without outputs needs no status";
}

Symbol Symbol::Keep(absl::StatusOr<Symbol> symbol) {
  return symbol.ok() ? *std::move(symbol) : Symbol(symbol.status());
}

Symbol Symbol::operator[](int i) const {
  if (i >= 0 && i < num_outputs()) return Symbol({outputs_[i]});
  if (!status_.ok()) return *this;
  return Symbol(absl::InvalidArgumentError(
      absl::StrCat(outputs_.empty() ? "the symbol" : Describe(*outputs_[0].node), " has no output ",
                   i, "; its outputs are ", JoinNames(ListOutputs()))));
}

Symbol Symbol::Variable(const std::string& name, const VariableOptions& options) {
  AttrMap attrs = AttrScope::Current();
  for (const auto& [key, value] : options.attrs) attrs[StoredKey(key)] = value;
  if (options.shape.rank_known()) {
    // MXNet writes 0 for an unknown extent.
    std::vector<int64_t> dims(options.shape.dims().begin(), options.shape.dims().end());
    std::replace(dims.begin(), dims.end(), kUnknownDim, int64_t{0});
    attrs["__shape__"] = PrintParamText(dims);
  }
  if (options.dtype) attrs["__dtype__"] = absl::StrCat(static_cast<int>(*options.dtype));
  if (options.lr_mult) attrs["__lr_mult__"] = PrintParamText(*options.lr_mult);
  if (options.wd_mult) attrs["__wd_mult__"] = PrintParamText(*options.wd_mult);
  if (!options.init.empty()) attrs["__init__"] = options.init;
  return MakeVariable(name, std::move(attrs));
}

absl::StatusOr<Symbol> Symbol::Create(absl::string_view op, const OpArgs& args) {
  for (const Symbol& input : args.inputs) COOPER_RETURN_IF_ERROR(input.status());
  for (const auto& [key, input] : args.named) COOPER_RETURN_IF_ERROR(input.status());
  const std::string hint = args.hint.empty() ? absl::AsciiStrToLower(op) : args.hint;
  const std::string name = NameManager::Current().Get(args.name, hint);
  COOPER_ASSIGN_OR_RETURN(OpCall call, AddContext(MakeCall(op, args), op, " '", name, "'"));
  OpSchema::Names names = call.op->InputNames(call);
  for (const auto& [key, input] : args.named) {
    if (!call.op->variadic_attr().empty()) break;  // no attribute enables one of its inputs
    if (absl::c_linear_search(names, key) || !EnableInput(key, &call)) continue;
    names = call.op->InputNames(call);
  }
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> inputs,
                          AddContext(BindInputs(call, names, name, args), op, " '", name, "'"));
  COOPER_RETURN_IF_ERROR(AddContext(CheckAuxInputs(call, inputs), op, " '", name, "'"));
  COOPER_ASSIGN_OR_RETURN(VariableSetPtr variables,
                          AddContext(UnionOfVariables(inputs), op, " '", name, "'"));
  const int num_outputs = call.op->NumVisibleOutputs(call);
  NodePtr node = Node::Make({.name = name,
                             .call = std::move(call),
                             .inputs = std::move(inputs),
                             .forward = nullptr,
                             .variables = std::move(variables)});
  std::vector<NodeEntry> outputs;
  outputs.reserve(num_outputs);
  for (int i = 0; i < num_outputs; ++i) outputs.push_back({node, i});
  return Symbol(std::move(outputs));
}

absl::StatusOr<Symbol> Symbol::Group(absl::Span<const Symbol> symbols) {
  std::vector<NodeEntry> outputs;
  for (const Symbol& symbol : symbols) {
    COOPER_RETURN_IF_ERROR(symbol.status());
    outputs.insert(outputs.end(), symbol.outputs_.begin(), symbol.outputs_.end());
  }
  COOPER_RETURN_IF_ERROR(CheckVariableNames(outputs));
  return Symbol(std::move(outputs));
}

absl::StatusOr<Symbol> Symbol::Compose(const std::map<std::string, Symbol>& replacements) const {
  COOPER_RETURN_IF_ERROR(status_);
  for (const auto& [name, symbol] : replacements) COOPER_RETURN_IF_ERROR(symbol.status());
  absl::flat_hash_map<const Node*, NodeEntry> replaced;  // output 0's new place
  size_t used = 0;
  for (const Node* node : TopologicalOrder(outputs_)) {
    if (node->is_variable()) {
      auto it = replacements.find(node->name());
      if (it == replacements.end()) continue;
      ++used;
      if (it->second.num_outputs() != 1) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable '", node->name(), "' is to be replaced by a symbol of ",
                         it->second.num_outputs(), " outputs, expected 1"));
      }
      replaced[node] = it->second.outputs_[0];
      continue;
    }
    Node::Fields fields = node->fields();
    bool changed = false;
    for (NodeEntry& input : fields.inputs) {
      auto it = replaced.find(input.node.get());
      if (it == replaced.end()) continue;
      input = {it->second.node, input.node->is_variable() ? it->second.index : input.index};
      changed = true;
    }
    if (!changed) continue;
    COOPER_RETURN_IF_ERROR(AddContext(CheckAuxInputs(fields.call, fields.inputs), Describe(*node)));
    // Names are checked once, below; UnionOfVariables computes the node's set when needed.
    fields.variables = nullptr;
    fields.input_versions.reset();
    replaced[node] = {Node::Make(std::move(fields)), 0};
  }
  if (used != replacements.size()) {
    std::vector<std::string> unknown;
    const std::vector<std::string> inputs = ListInputs();
    for (const auto& [name, symbol] : replacements) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) unknown.push_back(name);
    }
    return absl::NotFoundError(absl::StrCat("no variable called ", JoinNames(unknown),
                                            "; the inputs are ", JoinNames(inputs)));
  }
  std::vector<NodeEntry> outputs = outputs_;
  for (NodeEntry& output : outputs) {
    auto it = replaced.find(output.node.get());
    if (it == replaced.end()) continue;
    output = {it->second.node, output.node->is_variable() ? it->second.index : output.index};
  }
  COOPER_RETURN_IF_ERROR(CheckVariableNames(outputs));
  return Symbol(std::move(outputs));
}

absl::StatusOr<Symbol> Symbol::WithAttrs(const AttrValues& attrs) const {
  COOPER_RETURN_IF_ERROR(status_);
  if (outputs_.empty() || name().empty()) {
    return absl::InvalidArgumentError("attributes belong to a symbol of one node");
  }
  const Node& old = *outputs_[0].node;
  Node::Fields fields = old.fields();
  for (const auto& [key, value] : attrs) fields.call.attrs[StoredKey(key)] = value;
  if (const OpSchema* op = old.op(); op != nullptr) {
    COOPER_ASSIGN_OR_RETURN(
        fields.call,
        AddContext(MakeOpCall(op->name(), fields.call.attrs, fields.inputs.size()), Describe(old)));
    // The inputs and outputs of the node are unchanged: the operator must still have the same ones.
    const OpSchema::Names before = op->InputNames(old.call()), names = op->InputNames(fields.call);
    const size_t num_outputs = op->OutputNames(fields.call).size();
    if (names.size() != before.size() || num_outputs != static_cast<size_t>(old.num_outputs())) {
      return absl::InvalidArgumentError(
          absl::StrCat(Describe(old), ": with these attributes it has ", names.size(),
                       " inputs and ", num_outputs, " outputs, expected ", fields.inputs.size(),
                       " and ", old.num_outputs(), " as before"));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == before[i]) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(Describe(old), ": with these attributes input ", i, " would be '", names[i],
                       "', expected '", before[i], "' as before"));
    }
  }
  NodePtr node = Node::Make(std::move(fields));
  std::vector<NodeEntry> outputs = outputs_;
  for (NodeEntry& output : outputs) output.node = node;
  return Symbol(std::move(outputs));
}

absl::Status CheckVariableNames(const std::vector<NodeEntry>& heads) {
  return UnionOfVariables(heads).status();
}

}  // namespace cooper
