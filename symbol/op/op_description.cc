#include "symbol/op/op_description.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "symbol/schema/input_attrs.h"

namespace cooper {
namespace {

using Names = OpSchema::Names;
using Setting = std::pair<const ParamField*, std::string>;

// Returns whether the input usually becomes a variable: parameters, auxiliary states and labels do.
// MXNet creates variables for these, and users mostly rely on it.
bool IsCreatedAsVariable(absl::string_view input) {
  static const auto* names = new std::set<absl::string_view>{
      "weight",      "bias",           "gamma",      "beta",       "label",
      "moving_mean", "mean",           "moving_var", "moving_avg", "parameters",
      "state",       "moving_inv_var", "var",        "state_cell",
  };
  return names->count(input) > 0;
}

// Returns the attributes that may change the inputs, with the values to try.
std::vector<Setting> Settings(const OpSchema& op) {
  std::vector<Setting> settings;
  if (op.params() == nullptr) return settings;
  for (const ParamField& field : op.params()->fields()) {
    if (field.type == "bool" || field.type == "bool or None") {
      for (const char* text : {"False", "True"}) settings.emplace_back(&field, text);
    }
    for (const std::string& text : field.allowed) settings.emplace_back(&field, text);
    if (field.type == "int" && absl::StartsWith(field.name, "num_")) {
      for (const char* text : {"1", "2", "3"}) settings.emplace_back(&field, text);
    }
  }
  return settings;
}

// Returns a call with the attributes in `settings`. Required parameters have the initial values of
// their struct.
OpCall CallWith(const OpSchema& op, const std::vector<Setting>& settings) {
  OpCall call;
  call.op = &op;
  if (op.params() == nullptr) return call;
  std::shared_ptr<void> params = op.params()->MakeDefault();
  for (const auto& [field, text] : settings) {
    if (field->Parse(text, params.get()).ok()) call.attrs[field->name] = text;
  }
  call.params = std::move(params);
  return call;
}

// Returns the call's attributes and the required enumerations at their first value.
AttrMap WithRequiredNames(const OpCall& call) {
  AttrMap attrs = call.attrs;
  if (call.op->params() == nullptr) return attrs;
  for (const ParamField& field : call.op->params()->fields()) {
    if (!field.required || field.allowed.empty() || attrs.contains(field.name)) continue;
    attrs[field.name] = field.Print(call.params.get());
  }
  return attrs;
}

struct Inputs {
  std::vector<Names> lists;  // all lists of input names, over all attributes
  std::set<std::string> auxs, required;
  std::map<std::string, AttrMap> required_by;  // the fewest attributes with which it is there
};

Inputs AllInputs(const OpSchema& op) {
  Inputs all;
  const auto add = [&](const std::vector<Setting>& settings) {
    const OpCall call = CallWith(op, settings);
    Names names = op.InputNames(call);
    for (const int i : op.AuxInputs(call)) all.auxs.insert(names[i]);
    const AttrMap named = WithRequiredNames(call);
    for (size_t i = 0; i < names.size(); ++i) {
      if (RequiredReason(call, static_cast<int>(i))) all.required.insert(names[i]);
      const auto [attrs, is_new] = all.required_by.emplace(names[i], named);
      if (!is_new && named.size() < attrs->second.size()) attrs->second = named;
    }
    if (!absl::c_linear_search(all.lists, names)) all.lists.push_back(std::move(names));
  };
  add({});
  const std::vector<Setting> settings = Settings(op);
  for (size_t i = 0; i < settings.size(); ++i) {
    add({settings[i]});
    for (size_t j = 0; j < i; ++j) {
      if (settings[i].first != settings[j].first) add({settings[j], settings[i]});
    }
  }
  return all;
}

// Returns whether an attribute sets the number of inputs, whose names then contain numbers.
bool IsVariadic(const OpSchema& op, const std::vector<Names>& all) {
  if (!op.variadic_attr().empty()) return true;
  return all.size() > 1 && absl::c_any_of(all, [](const Names& names) {
           return absl::c_any_of(names, [](const std::string& name) {
             return absl::ascii_isdigit(static_cast<unsigned char>(name.back()));
           });
         });
}

}  // namespace

OpDescription DescribeOp(const OpSchema& op) {
  OpDescription description;
  const OpCall call = CallWith(op, {});
  description.outputs = op.OutputNames(call);
  description.outputs.resize(std::min(
      description.outputs.size(), static_cast<size_t>(std::max(op.NumVisibleOutputs(call), 0))));
  Inputs inputs = AllInputs(op);
  std::vector<Names>& all = inputs.lists;
  description.variadic = IsVariadic(op, all);
  if (description.variadic) return description;

  // The longest list comes first: the order of the others follows from it.
  absl::c_stable_sort(all, [](const Names& a, const Names& b) { return a.size() > b.size(); });
  Names names = all[0];
  for (const Names& some : all) {
    for (size_t i = 0; i < some.size(); ++i) {
      if (absl::c_linear_search(names, some[i])) continue;
      const auto before = i == 0 ? names.begin() : absl::c_find(names, some[i - 1]) + 1;
      names.insert(before, some[i]);
    }
  }
  const bool has_data = !names.empty() && names[0] == "data";
  for (const std::string& name : names) {
    const bool always =
        absl::c_all_of(all, [&](const Names& some) { return absl::c_linear_search(some, name); });
    const bool leads = description.optional.empty() && !(has_data && IsCreatedAsVariable(name));
    if (always && (leads || inputs.required.count(name) > 0)) {
      description.positional.push_back(name);
    } else {
      description.optional.push_back(name);
      description.required_by[name] = inputs.required_by[name];
      if (!always) description.conditional.push_back(name);
      if (inputs.auxs.count(name) > 0) description.auxs.push_back(name);
    }
  }
  return description;
}

FunctionName FunctionNameOf(const std::string& op) {
  for (const char* scope : {"contrib", "linalg", "random", "sample", "image", "sparse"}) {
    const std::string prefix = absl::StrCat("_", scope, "_");
    if (!absl::StartsWith(op, prefix)) continue;
    const std::string name = op.substr(prefix.size());
    return {.scope = scope, .name = name, .hint = absl::AsciiStrToLower(name)};
  }
  static const auto* words = new std::set<absl::string_view>{
      "and",  "auto",  "bool", "break", "case",  "char",   "const",  "default", "delete", "do",
      "else", "float", "for",  "if",    "int",   "new",    "not",    "or",      "switch", "union",
      "xor",  "while", "this", "true",  "false", "static", "double", "operator"};
  std::string name = op.substr(op.find_first_not_of('_'));
  if (words->count(name) > 0) name += '_';
  return {.scope = "", .name = std::move(name), .hint = absl::AsciiStrToLower(op)};
}

std::string CalledName(const OpSchema& op) {
  const FunctionName own = FunctionNameOf(op.name());
  for (const std::string& alias : op.aliases()) {
    if (alias[0] == '_') continue;
    const FunctionName name = FunctionNameOf(alias);
    if (name.scope == own.scope && name.name == own.name) return alias;
  }
  return op.name();
}

bool HasFunction(const OpSchema& op) {
  const std::string family = op.family();
  return !op.is_gradient() && family != "control" && family != "fused";
}

std::vector<std::string> FunctionAliases(const OpSchema& op) {
  std::vector<std::string> aliases;
  const FunctionName own = FunctionNameOf(op.name());
  for (const std::string& alias : op.aliases()) {
    if (alias[0] == '_' && !absl::StartsWith(alias, "_contrib_")) continue;
    const FunctionName name = FunctionNameOf(alias);
    if (name.scope != own.scope || name.name != own.name) aliases.push_back(alias);
  }
  return aliases;
}

}  // namespace cooper
