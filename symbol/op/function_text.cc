#include "symbol/op/function_text.h"

#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "symbol/op/cpp_text.h"
#include "symbol/op/op_description.h"

namespace cooper {
namespace {

// The declaration of an attribute in its struct.
struct Member {
  std::string type;
  std::string initial;   // what follows "= "
  bool compared = true;  // whether a value equal to `initial` is left out
};

Member MemberOf(const ParamField& field, const std::string& absent) {
  const std::map<absl::string_view, Member> plain = {
      {"bool", {"bool", absent == "True" ? "true" : "false"}},
      {"int", {"int64_t", absent}},
      {"float", {"double", FloatLiteral(absent)}},
      {"string", {"std::string", Quoted(absent)}},
      {"enum", {"std::string", Quoted(absent)}},
      {"dtype", {"DType", DTypeLiteral(absent)}},
  };
  absl::string_view type = field.type;
  if (absl::StartsWith(type, "tuple of float")) return {"std::vector<double>", "{}", false};
  if (absl::StartsWith(type, "tuple of")) return {"Tuple", "{}", false};
  const bool optional = absl::EndsWith(type, " or None");
  if (optional) type.remove_suffix(absl::string_view(" or None").size());
  const auto found = plain.find(type);
  CHECK(found != plain.end()) << "attributes of type " << type << " have no type of C++";
  if (optional || field.required) {
    return {absl::StrCat("std::optional<", found->second.type, ">"), "std::nullopt", false};
  }
  return found->second;
}

std::string DocOf(const ParamField& field, const Member& member, const std::string& absent) {
  std::string doc = field.required ? "Required: " : "";
  absl::StrAppend(&doc, field.doc);
  if (doc.empty()) doc = field.name;
  if (!field.allowed.empty()) absl::StrAppend(&doc, " (", absl::StrJoin(field.allowed, ", "), ")");
  if (!field.required && !member.compared) absl::StrAppend(&doc, "; default: ", absent);
  return doc;
}

class FunctionWriter {
 public:
  explicit FunctionWriter(const OpSchema& op)
      : op_(op), description_(DescribeOp(op)), function_(FunctionNameOf(op.name())) {
    called_ = CalledName(op);
    function_.hint = FunctionNameOf(called_).hint;
    if (op.params() != nullptr) {
      defaults_ = op.params()->Defaults();
      for (const ParamField& field : op.params()->fields()) {
        if (field.name != op.variadic_attr()) fields_.push_back(&field);
      }
    }
    for (const ParamField* field : fields_) needs_options_ |= field->required;
    has_options_ = !fields_.empty() || !description_.optional.empty();
    options_ = has_options_ ? CamelCase(function_.name) + "Options" : "NodeOptions";
  }

  void WriteHeader(ScopedText* out) const {
    std::string text;
    if (has_options_) text = Options();
    absl::StrAppend(&text, CommentLines(Doc(), ""), Declaration(function_, /*in_header=*/true),
                    ";\n");
    out->Append(function_.scope, text);
    for (const std::string& alias : FunctionAliases(op_)) {
      const FunctionName name = FunctionNameOf(alias);
      out->Append(name.scope, Declaration(name, /*in_header=*/true) + ";\n");
    }
    out->Append(function_.scope, "\n");
  }

  void WriteSource(ScopedText* out) const {
    out->Append(function_.scope, Definition(called_, function_));
    for (const std::string& alias : FunctionAliases(op_)) {
      const FunctionName name = FunctionNameOf(alias);
      out->Append(name.scope, Definition(alias, name));
    }
  }

 private:
  std::string Doc() const {
    std::string doc = op_.doc();
    if (!doc.empty() && doc.back() != '.') doc += '.';
    if (description_.variadic) {
      absl::StrAppend(&doc, " Any number of inputs.");
    }
    if (description_.outputs.size() > 1) {
      absl::StrAppend(&doc, " Outputs: ", absl::StrJoin(description_.outputs, ", "), ".");
    }
    return doc;
  }

  std::string Options() const {
    std::string text = absl::StrCat("struct ", options_, " {\n");
    for (const std::string& input : description_.optional) {
      const bool is_aux = absl::c_linear_search(description_.auxs, input);
      std::string doc = is_aux ? "auxiliary state" : "input";
      if (absl::c_linear_search(description_.conditional, input)) {
        absl::StrAppend(&doc, " that some attributes ask for");
      } else {
        absl::StrAppend(&doc, "; left out: variable NAME_", input);
      }
      absl::StrAppend(&text, CommentedLine(absl::StrCat("  Symbol ", input, " = {};"), doc));
    }
    for (const ParamField* field : fields_) {
      const std::string absent = defaults_.at(field->name);
      const Member member = MemberOf(*field, absent);
      const std::string line =
          absl::StrCat("  ", member.type, " ", MemberName(*field), " = ", member.initial, ";");
      absl::StrAppend(&text, CommentedLine(line, DocOf(*field, member, absent)));
    }
    absl::StrAppend(&text, "  std::string name = {};  // empty: an automatic one, ",
                    Quoted(function_.hint + "0"), "\n",
                    "  AttrValues attrs = {};  // others: __lr_mult__\n};\n");
    return text;
  }

  std::string MemberName(const ParamField& field) const {
    const std::string name = FunctionNameOf(field.name).name;
    return name == "name" || name == "attrs" ? name + "_" : name;
  }

  // Returns `before` followed by the parameters of the operator's functions: inputs, and the
  // options, whose struct is in the operator's own namespace.
  std::string WithParameters(const std::string& before, std::vector<std::string> parameters,
                             const std::string& scope, bool has_default) const {
    if (description_.variadic) parameters.push_back("absl::Span<const Symbol> inputs");
    for (const std::string& input : description_.positional) {
      parameters.push_back(absl::StrCat("const Symbol& ", input));
    }
    parameters.push_back(absl::StrCat("const ", has_options_ ? From(scope) : "", options_,
                                      "& options", has_default ? " = {}" : ""));
    return Wrapped(before, parameters, ")");
  }

  // Returns the qualifier by which `scope` reaches names of the operator's own namespace.
  std::string From(const std::string& scope) const {
    return scope == function_.scope ? "" : absl::StrCat("::", NamespaceOf(function_.scope), "::");
  }

  std::string Declaration(const FunctionName& name, bool in_header) const {
    return WithParameters(absl::StrCat("Symbol ", name.name, "("), {}, name.scope,
                          /*has_default=*/in_header && !needs_options_);
  }

  std::string Definition(const std::string& op, const FunctionName& name) const {
    // The functions differ only in their names: all call one static function, which precedes that
    // of the operator's own name.
    const std::string text =
        absl::StrCat(op == called_ ? Maker() : "", Declaration(name, /*in_header=*/false),
                     " {\n  return ", From(name.scope), "Make", CamelCase(function_.name), "(");
    std::vector<std::string> arguments = {Quoted(op), Quoted(name.hint)};
    if (description_.variadic) arguments.push_back("inputs");
    for (const std::string& input : description_.positional) arguments.push_back(input);
    arguments.push_back("options");
    return absl::StrCat(text, absl::StrJoin(arguments, ", "), ");\n}\n\n");
  }

  // Returns the static function that all names of the operator call.
  std::string Maker() const {
    std::string text = absl::StrCat(
        WithParameters(absl::StrCat("static Symbol Make", CamelCase(function_.name), "("),
                       {"const char* op", "const char* hint"}, function_.scope,
                       /*has_default=*/false),
        " {\n  NodeBuilder node(op, hint, options.name, options.attrs);\n");
    if (description_.variadic) absl::StrAppend(&text, "  node.Inputs(inputs);\n");
    for (const std::string& input : description_.positional) {
      absl::StrAppend(&text, "  node.Input(", Quoted(input), ", ", input, ");\n");
    }
    for (const std::string& input : description_.optional) {
      absl::StrAppend(&text, "  node.OptionalInput(", Quoted(input), ", options.", input, ");\n");
    }
    for (const ParamField* field : fields_) {
      const Member member = MemberOf(*field, defaults_.at(field->name));
      absl::StrAppend(&text, "  node.Attr(", Quoted(field->name), ", options.", MemberName(*field));
      if (member.compared) absl::StrAppend(&text, ", ", Typed(member));
      absl::StrAppend(&text, ");\n");
    }
    return absl::StrCat(text, "  return node.Make();\n}\n\n");
  }

  // Returns the initial value with its type: a plain integer literal is an int, which makes
  // overloads ambiguous.
  static std::string Typed(const Member& member) {
    return member.type == "int64_t" ? absl::StrCat("int64_t{", member.initial, "}")
                                    : member.initial;
  }

  const OpSchema& op_;
  OpDescription description_;
  std::string called_;
  FunctionName function_;
  AttrMap defaults_;
  std::vector<const ParamField*> fields_;
  std::string options_;
  bool has_options_ = false;
  bool needs_options_ = false;
};

}  // namespace

FunctionTexts WriteFunctions(const std::vector<const OpSchema*>& ops, const std::string& family,
                             const std::string& path) {
  std::string guard = "COOPER_";
  for (const char c : path) {
    guard.push_back(absl::ascii_isalnum(c) ? absl::ascii_toupper(static_cast<unsigned char>(c))
                                           : '_');
  }
  guard += '_';
  FunctionTexts texts;
  texts.header = absl::StrCat(
      "#ifndef ", guard, "\n#define ", guard, "\n\n",
      CommentLines(absl::StrCat("Functions that make nodes of the operators in symbol/ops/", family,
                                ", generated from their schemas when this is built. See "
                                "symbol/op/operators.h for what they have in common."),
                   ""),
      "\n#include <cstdint>\n#include <limits>\n#include <optional>\n#include <string>\n",
      "#include <vector>\n\n#include \"absl/types/span.h\"\n#include \"ndarray/base/dtype.h\"\n",
      "#include \"symbol/op/attribute.h\"\n#include \"symbol/op/operators.h\"\n",
      "#include \"symbol/graph/symbol.h\"\n\n");
  texts.source =
      absl::StrCat("#include \"", path, "\"\n\n#include \"symbol/op/node_builder.h\"\n\n");
  ScopedText header, source;
  std::set<std::string> names;
  for (const OpSchema* op : ops) {
    if (op->family() != family || !HasFunction(*op)) continue;
    std::vector<std::string> all = FunctionAliases(*op);
    all.push_back(op->name());
    for (const std::string& name : all) {
      const FunctionName function = FunctionNameOf(name);
      CHECK(names.insert(absl::StrCat(function.scope, "::", function.name)).second)
          << "two operators would have the function of " << name;
    }
    const FunctionWriter writer(*op);
    writer.WriteHeader(&header);
    writer.WriteSource(&source);
  }
  absl::StrAppend(&texts.source, source.Finish());
  absl::StrAppend(&texts.header, header.Finish(), "#endif  // ", guard, "\n");
  return texts;
}

}  // namespace cooper
