#include "executor/run/program_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "executor/program/program.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// Returns "fc1_output (2, 3) @128 on cpu(1)" for a value named fc1_output.
std::string Describe(const CompiledProgram& compiled, int value, absl::string_view name) {
  const Program& p = compiled.program();
  const ProgramValue& v = p.values[value];
  const int64_t offset = compiled.layout().OffsetOf(p, value);
  const int context = p.buffers[v.buffer].context;
  return absl::StrCat(name, " ", v.shape.ToString(), offset < 0 ? "" : absl::StrCat(" @", offset),
                      context == 0 ? "" : absl::StrCat(" on ", p.contexts[context].ToString()));
}

}  // namespace

std::string ProgramText(const CompiledProgram& compiled) {
  std::string text;
  std::vector<NodeEntry> entries;
  for (const ProgramValue& value : compiled.program().values) entries.push_back(value.entry);
  const std::vector<std::string> names = OutputNames(entries);
  const auto describe = [&](int value) { return Describe(compiled, value, names[value]); };
  const auto append = [&](std::string* out, int value) { out->append(describe(value)); };
  for (const Instruction& instruction : compiled.program().instructions) {
    absl::StrAppend(&text, instruction.run ? "" : "(view) ",
                    instruction.computed_by_gradient ? "(not in training) " : "",
                    Describe(instruction), ": ", absl::StrJoin(instruction.inputs, ", ", append),
                    " -> ");
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      absl::StrAppend(&text, k == 0 ? "" : ", ", describe(instruction.outputs[k]),
                      instruction.reqs[k] == WriteReq::kAdd    ? " (add)"
                      : instruction.reqs[k] == WriteReq::kNull ? " (null)"
                                                               : "");
    }
    if (instruction.tiles >= 0) absl::StrAppend(&text, " (tiles ", instruction.tiles, ")");
    for (const RunCondition& condition : instruction.conditions) {
      absl::StrAppend(&text, condition.expected ? " (if " : " (unless ", names[condition.value],
                      ")");
    }
    text.push_back('\n');
  }
  return text;
}

}  // namespace cooper
