#include "tools/ops/op_reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "executor/program/kernel.h"
#include "symbol/op/op_description.h"
#include "tools/ops/op_trial.h"

namespace cooper {
namespace {

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string TypeOf(const ParamField& field) {
  if (!field.allowed.empty()) return absl::StrJoin(field.allowed, " | ");
  std::string type = field.type;
  const bool has_min = std::isfinite(field.min), has_max = std::isfinite(field.max);
  if (has_min && has_max) {
    absl::StrAppend(&type, " in [", field.min, ", ", field.max, "]");
  } else if (has_min) {
    absl::StrAppend(&type, " >= ", field.min);
  } else if (has_max) {
    absl::StrAppend(&type, " <= ", field.max);
  }
  return type;
}

std::string GradientText(const OpSchema& op) {
  OpCall call;
  call.op = &op;
  if (op.params() != nullptr) call.params = op.params()->MakeDefault();
  if (!op.gradient()) return "none: nothing flows through it";
  if (op.IgnoresHeadGradient(call)) return "its own: a loss, whatever comes from above";
  return "yes";
}

std::string FunctionText(const OpSchema& op, const OpDescription& description) {
  if (!HasFunction(op)) return "";
  const FunctionName function = FunctionNameOf(op.name());
  std::vector<std::string> arguments = description.positional;
  if (description.variadic) arguments = {"{a, b, ...}"};
  arguments.push_back("{...}");
  return absl::StrCat("op::", function.scope, function.scope.empty() ? "" : "::", function.name,
                      "(", absl::StrJoin(arguments, ", "), ")");
}

// Returns the inputs of an entry in one line.
std::string InputsText(const OpEntry& entry) {
  std::vector<std::string> inputs;
  for (const OpEntry::Input& input : entry.inputs) {
    inputs.push_back(input.note.empty() ? input.name
                                        : absl::StrCat(input.name, " (", input.note, ")"));
  }
  return inputs.empty() ? "none" : absl::StrJoin(inputs, ", ");
}

// Whether the operator has no outputs, such as reset_arrays.
bool HasNoOutputs(const OpSchema& op) {
  const absl::StatusOr<OpCall> call = MakeOpCall(op.name(), {{"num_arrays", "1"}}, 1);
  return call.ok() && op.OutputNames(*call).empty();
}

std::string LinkText(const OpEntry& entry) {
  return absl::StrCat("symbol/op/", entry.family, ".h from @cooper//symbol/op:", entry.family);
}

}  // namespace

OpEntry DescribeEntry(const OpSchema& op) {
  const OpDescription description = DescribeOp(op);
  OpEntry entry{.name = op.name(),
                .aliases = op.aliases(),
                .doc = op.doc(),
                .family = op.family(),
                .function = FunctionText(op, description),
                .outputs = description.outputs,
                .gradient = GradientText(op)};
  const std::optional<OpTrial> trial = FindOpTrial(op);
  if (trial.has_value()) entry.shapes = TrialShapesText(op, *trial);
  if (entry.outputs.empty()) {
    entry.outputs.push_back(HasNoOutputs(op) ? "none: it changes its inputs"
                                             : "as many as its attributes say");
  }
  if (description.variadic) entry.inputs.push_back({"any number of inputs", ""});
  for (const std::string& name : description.positional) entry.inputs.push_back({name, ""});
  for (const std::string& name : description.optional) {
    std::vector<std::string> notes;
    if (absl::c_linear_search(description.auxs, name)) notes.push_back("auxiliary state");
    if (absl::c_linear_search(description.conditional, name)) {
      notes.push_back("if attributes ask for it");
    }
    entry.inputs.push_back(
        {.name = name,
         .note = notes.empty() ? "optional" : absl::StrJoin(notes, ", "),
         .array = trial.has_value()
                      ? TrialArrayText(op, *trial, name, description.required_by.at(name))
                      : ""});
  }
  if (op.params() != nullptr) {
    const AttrMap defaults = op.params()->Defaults();
    for (const ParamField& field : op.params()->fields()) {
      entry.attributes.push_back({.name = field.name,
                                  .type = TypeOf(field),
                                  .absent = field.name == op.variadic_attr() ? "counted"
                                            : field.required                 ? "required"
                                                             : defaults.at(field.name),
                                  .meaning = field.doc});
    }
  }
  for (const DeviceType device : {DeviceType::kCpu, DeviceType::kGpu}) {
    const absl::StatusOr<const Kernel*> kernel = FindKernel(op.name(), device);
    if (!kernel.ok()) continue;
    entry.kernels.push_back(absl::StrCat(device == DeviceType::kCpu ? "cpu" : "gpu", ": ",
                                         (*kernel)->dtypes.ToString()));
  }
  // Views are never run, so they need no kernel.
  if (entry.kernels.empty() && op.is_view())
    entry.kernels.push_back("all: a view, without a kernel");
  // NumPy operators that executors replace by others (executor/passes/graph/expand_numpy.h).
  if (entry.kernels.empty() && op.family() == "numpy") {
    entry.kernels.push_back("all: computed by other operators");
  }
  return entry;
}

std::vector<OpEntry> AllEntries() {
  std::vector<OpEntry> entries;
  for (const OpSchema* op : AllOps()) {
    if (HasFunction(*op)) entries.push_back(DescribeEntry(*op));
  }
  const auto place = [](const OpEntry& entry) {
    return std::make_pair(absl::StartsWith(entry.name, "_"), absl::AsciiStrToLower(entry.name));
  };
  absl::c_stable_sort(entries,
                      [&](const OpEntry& a, const OpEntry& b) { return place(a) < place(b); });
  return entries;
}

std::string EntryText(const OpEntry& entry) {
  std::string text = entry.name;
  if (!entry.aliases.empty()) {
    absl::StrAppend(&text, "  (also ", absl::StrJoin(entry.aliases, ", "), ")");
  }
  absl::StrAppend(&text, "\n  ", entry.doc, "\n\n");
  const auto line = [&text](absl::string_view what, absl::string_view value) {
    if (!value.empty()) absl::StrAppendFormat(&text, "  %-10s%s\n", what, value);
  };
  line("call", entry.function);
  line("link", LinkText(entry));
  line("inputs", InputsText(entry));
  line("outputs", absl::StrJoin(entry.outputs, ", "));
  line("shapes", entry.shapes);
  for (const OpEntry::Input& input : entry.inputs) {
    if (!input.array.empty()) line("optional", absl::StrCat(input.name, " ", input.array));
  }
  line("gradient", entry.gradient);
  line("kernels", entry.kernels.empty() ? "none" : absl::StrJoin(entry.kernels, "; "));
  if (entry.attributes.empty()) return text;
  absl::StrAppend(&text, "\n");
  size_t name_width = 0, type_width = 0, absent_width = 0;
  for (const OpEntry::Attribute& attribute : entry.attributes) {
    name_width = std::max(name_width, attribute.name.size());
    type_width = std::max(type_width, attribute.type.size());
    absent_width = std::max(absent_width, attribute.absent.size());
  }
  for (const OpEntry::Attribute& attribute : entry.attributes) {
    absl::StrAppendFormat(&text, "  %-*s  %-*s  %-*s  %s\n", static_cast<int>(name_width),
                          attribute.name, static_cast<int>(type_width), attribute.type,
                          static_cast<int>(absent_width), attribute.absent, attribute.meaning);
  }
  return text;
}

std::string ReferencePage(const std::vector<OpEntry>& entries) {
  std::string page = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>cooper: operators</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 0 1rem 4rem; }
header { position: sticky; top: 0; background: Canvas; padding: .8rem 0; border-bottom: 1px solid #8885; }
h1 { font-size: 1.3rem; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 0; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem; }
section { padding: 1rem 0; border-bottom: 1px solid #8883; scroll-margin-top: 7rem; }
code, td:first-child, td:nth-child(3) { font-family: ui-monospace, monospace; font-size: .9em; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .15rem .8rem; margin: .5rem 0; }
dt { opacity: .65; } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0; }
td { overflow-wrap: anywhere; }
th { font-weight: normal; opacity: .65; }
.also { opacity: .65; font-size: .9rem; font-weight: normal; }
</style>
</head>
<body>
<header>
<h1>Operators of cooper</h1>
<input id="query" type="search" autofocus placeholder="name, alias, attribute or words of the description">
<span id="count"></span>
</header>
<main>
)";
  for (const OpEntry& entry : entries) {
    std::string also;
    if (!entry.aliases.empty()) {
      also = absl::StrCat(" <span class=\"also\">also ",
                          EscapeHtml(absl::StrJoin(entry.aliases, ", ")), "</span>");
    }
    absl::StrAppend(&page, "<section id=\"", EscapeHtml(entry.name), "\">\n<h2>",
                    EscapeHtml(entry.name), also, "</h2>\n<p>", EscapeHtml(entry.doc),
                    "</p>\n<dl>\n");
    const auto line = [&page](absl::string_view what, absl::string_view value) {
      if (value.empty()) return;
      absl::StrAppend(&page, "<dt>", what, "</dt><dd>", EscapeHtml(value), "</dd>\n");
    };
    line("call", entry.function);
    line("link", LinkText(entry));
    line("inputs", InputsText(entry));
    line("outputs", absl::StrJoin(entry.outputs, ", "));
    line("shapes", entry.shapes);
    line("gradient", entry.gradient);
    line("kernels", entry.kernels.empty() ? "none" : absl::StrJoin(entry.kernels, "; "));
    absl::StrAppend(&page, "</dl>\n");
    if (!entry.attributes.empty()) {
      absl::StrAppend(&page, "<table>\n<tr><th>attribute</th><th>type</th><th>default</th>",
                      "<th></th></tr>\n");
      for (const OpEntry::Attribute& attribute : entry.attributes) {
        absl::StrAppend(&page, "<tr><td>", EscapeHtml(attribute.name), "</td><td>",
                        EscapeHtml(attribute.type), "</td><td>", EscapeHtml(attribute.absent),
                        "</td><td>", EscapeHtml(attribute.meaning), "</td></tr>\n");
      }
      absl::StrAppend(&page, "</table>\n");
    }
    absl::StrAppend(&page, "</section>\n");
  }
  absl::StrAppend(&page, R"(</main>
<script>
const query = document.getElementById("query");
const sections = [...document.querySelectorAll("section")].map(
    section => ({section, text: section.textContent.toLowerCase()}));
function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(word => word);
  let shown = 0;
  for (const {section, text} of sections) {
    section.hidden = !words.every(word => text.includes(word));
    if (!section.hidden) ++shown;
  }
  document.getElementById("count").textContent = shown + " of " + sections.length;
}
query.addEventListener("input", search);
search();
</script>
</body>
</html>
)");
  return page;
}

}  // namespace cooper
