#include "symbol/op/function_text.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "symbol/op/op_description.h"

namespace cooper {
namespace {

constexpr size_t kLineLength = 100;

// `text` as comment lines.
std::string Comment(absl::string_view text, absl::string_view indent) {
  std::string lines;
  std::string line = absl::StrCat(indent, "//");
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (line.size() + 1 + word.size() > kLineLength) {
      absl::StrAppend(&lines, line, "\n");
      line = absl::StrCat(indent, "//");
    }
    absl::StrAppend(&line, " ", word);
  }
  return absl::StrCat(lines, line, "\n");
}

// A member with its comment, behind it where there is room.
std::string CommentedLine(const std::string& line, const std::string& comment) {
  if (line.size() + 5 + comment.size() <= kLineLength) {
    return absl::StrCat(line, "  // ", comment, "\n");
  }
  return absl::StrCat(Comment(comment, "  "), line, "\n");
}

// "SoftmaxOutput", "softmax_cross_entropy" -> "SoftmaxCrossEntropy".
std::string CamelCase(absl::string_view name) {
  std::string camel;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    camel.push_back(upper ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c);
    upper = false;
  }
  return camel;
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

// "float32" -> DType::kFloat32.
std::string DTypeLiteral(absl::string_view name) {
  return absl::StrCat("DType::k", CamelCase(name));
}

std::string FloatLiteral(const std::string& text) {
  if (absl::StrContains(text, "inf") || absl::StrContains(text, "nan")) {
    return absl::StrCat("std::numeric_limits<double>::",
                        absl::StrContains(text, "nan") ? "quiet_NaN()" : "infinity()");
  }
  return absl::StrContains(text, ".") || absl::StrContains(text, "e") ? text : text + ".0";
}

// How an attribute stands in its struct.
struct Member {
  std::string type;
  std::string initial;   // what follows "= "
  bool compared = true;  // with `initial`, to be left out if equal
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

// `before`, the elements with commas between them and `after`, in lines that are as wide as can be.
std::string Wrapped(const std::string& before, const std::vector<std::string>& elements,
                    absl::string_view after) {
  const std::string indent(before.size(), ' ');
  std::string text = before;
  size_t column = before.size();
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool last = i + 1 == elements.size();
    // Room for " {" or ";".
    const size_t width = elements[i].size() + (last ? after.size() + 2 : 2);
    if (i > 0 && column + width > kLineLength) {
      text.pop_back();
      absl::StrAppend(&text, "\n", indent);
      column = indent.size();
    }
    absl::StrAppend(&text, elements[i], last ? after : ", ");
    column += width;
  }
  return text;
}

// Text in namespaces of cooper::op, each opened when it begins and closed when another does.
class ScopedText {
 public:
  void Append(const std::string& scope, absl::string_view text) {
    if (!open_ || scope != scope_) {
      Close();
      absl::StrAppend(&text_, "namespace ", FullName(scope), " {\n\n");
      open_ = true;
      scope_ = scope;
    }
    absl::StrAppend(&text_, text);
  }

  std::string Finish() {
    Close();
    return std::move(text_);
  }

 private:
  static std::string FullName(const std::string& scope) {
    return absl::StrCat("cooper::op", scope.empty() ? "" : "::", scope);
  }
  void Close() {
    if (open_) absl::StrAppend(&text_, "\n}  // namespace ", FullName(scope_), "\n\n");
    open_ = false;
  }

  std::string text_;
  std::string scope_;
  bool open_ = false;
};

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
    absl::StrAppend(&text, Comment(Doc(), ""), Declaration(function_, /*in_header=*/true), ";\n");
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
                    "  AttrMap attrs = {};  // others, as text: __lr_mult__\n};\n");
    return text;
  }

  std::string MemberName(const ParamField& field) const {
    const std::string name = FunctionNameOf(field.name).name;
    return name == "name" || name == "attrs" ? name + "_" : name;
  }

  std::string Declaration(const FunctionName& name, bool in_header) const {
    std::vector<std::string> parameters;
    if (description_.variadic) parameters.push_back("absl::Span<const Symbol> inputs");
    for (const std::string& input : description_.positional) {
      parameters.push_back(absl::StrCat("const Symbol& ", input));
    }
    // The struct is where the operator itself is.
    const std::string scope =
        name.scope == function_.scope || !has_options_
            ? ""
            : absl::StrCat("::cooper::op::", function_.scope, function_.scope.empty() ? "" : "::");
    parameters.push_back(absl::StrCat("const ", scope, options_, "& options",
                                      in_header && !needs_options_ ? " = {}" : ""));
    return Wrapped(absl::StrCat("Symbol ", name.name, "("), parameters, ")");
  }

  std::string Definition(const std::string& op, const FunctionName& name) const {
    std::string text = absl::StrCat(Declaration(name, /*in_header=*/false), " {\n");
    if (op != called_) {
      // Apart from the names the same as the operator's own.
      absl::StrAppend(&text, "  return ::cooper::op::", function_.scope,
                      function_.scope.empty() ? "" : "::", "Make", CamelCase(function_.name), "(");
    } else {
      text = absl::StrCat(Maker(), text, "  return Make", CamelCase(function_.name), "(");
    }
    std::vector<std::string> arguments = {Quoted(op), Quoted(name.hint)};
    if (description_.variadic) arguments.push_back("inputs");
    for (const std::string& input : description_.positional) arguments.push_back(input);
    arguments.push_back("options");
    return absl::StrCat(text, absl::StrJoin(arguments, ", "), ");\n}\n\n");
  }

  // What all names of the operator share.
  std::string Maker() const {
    std::vector<std::string> parameters = {"const char* op", "const char* hint"};
    if (description_.variadic) parameters.push_back("absl::Span<const Symbol> inputs");
    for (const std::string& input : description_.positional) {
      parameters.push_back(absl::StrCat("const Symbol& ", input));
    }
    parameters.push_back(absl::StrCat("const ", options_, "& options"));
    std::string text =
        absl::StrCat(Wrapped(absl::StrCat("static Symbol Make", CamelCase(function_.name), "("),
                             parameters, ")"),
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

  // An integer literal is an int, for which overloads are ambiguous.
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
      Comment(absl::StrCat("Functions that make nodes of the operators in symbol/ops/", family,
                           ", generated from their schemas when this is built. See "
                           "symbol/operators.h for what they have in common."),
              ""),
      "\n#include <cstdint>\n#include <limits>\n#include <optional>\n#include <string>\n",
      "#include <vector>\n\n#include \"absl/types/span.h\"\n#include \"ndarray/dtype.h\"\n",
      "#include \"symbol/op/attribute.h\"\n#include \"symbol/operators.h\"\n",
      "#include \"symbol/symbol.h\"\n\n");
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
