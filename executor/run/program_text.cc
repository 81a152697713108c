#include "executor/run/program_text.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/program.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

// "fc1_output (2, 3) @128 on cpu(1)".
std::string Describe(const BoundProgram& bound, int value) {
  const Program& p = bound.program();
  const ProgramValue& v = p.values[value];
  const int64_t offset = bound.compiled().layout().OffsetOf(p, value);
  const int context = p.buffers[v.buffer].context;
  return absl::StrCat(OutputName(v.entry), " ", v.shape.ToString(),
                      offset < 0 ? "" : absl::StrCat(" @", offset),
                      context == 0 ? "" : absl::StrCat(" on ", p.contexts[context].ToString()));
}

}  // namespace

std::string ProgramText(const BoundProgram& bound) {
  std::string text;
  const auto append = [&bound](std::string* out, int value) {
    out->append(Describe(bound, value));
  };
  for (const Instruction& instruction : bound.program().instructions) {
    absl::StrAppend(&text, instruction.run ? "" : "(view) ",
                    instruction.left_to_gradient ? "(not in training) " : "", Describe(instruction),
                    ": ", absl::StrJoin(instruction.inputs, ", ", append), " -> ");
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      absl::StrAppend(&text, k == 0 ? "" : ", ", Describe(bound, instruction.outputs[k]),
                      instruction.reqs[k] == WriteReq::kAdd    ? " (add)"
                      : instruction.reqs[k] == WriteReq::kNull ? " (null)"
                                                               : "");
    }
    if (instruction.tiles >= 0) absl::StrAppend(&text, " (tiles ", instruction.tiles, ")");
    text.push_back('\n');
  }
  return text;
}

}  // namespace cooper
