// Copies between contexts, where parts of a graph are placed on several.

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/compile/program_passes/program_passes.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

class CopyInsertion {
 public:
  explicit CopyInsertion(Program& program) : p_(program) {}

  void Run() {
    std::vector<Instruction> before = std::exchange(p_.instructions, {});
    for (Instruction& instruction : before) {
      for (int& input : instruction.inputs) {
        input = On(instruction.context, input, instruction.backward);
      }
      p_.instructions.push_back(std::move(instruction));
    }
    for (ProgramGradient& g : p_.gradients) {
      if (g.value < 0) continue;
      g.value = On(ContextOf(p_.arg_values[g.arg]), g.value, /*backward=*/true);
    }
  }

 private:
  int ContextOf(int value) const { return p_.buffers[p_.values[value].buffer].context; }

  // The value as it is found on a context: itself or a copy, which is made when first needed.
  int On(int context, int value, bool backward) {
    if (ContextOf(value) == context) return value;
    int& copy = copies_.emplace(std::pair(context, value), -1).first->second;
    if (copy >= 0) return copy;
    ProgramValue copied = p_.values[value];
    copied.buffer = static_cast<int>(p_.buffers.size());
    p_.buffers.push_back({.context = context, .bytes = p_.buffers[p_.values[value].buffer].bytes});
    copy = static_cast<int>(p_.values.size());
    Instruction instruction;
    instruction.node =
        MakeNode("_CrossDeviceCopy",
                 absl::StrCat(OutputName(copied.entry), "_copy_", p_.contexts[context].ToString()),
                 {})
            .value();
    instruction.inputs = {value};
    instruction.outputs = {copy};
    instruction.reqs = {WriteReq::kWrite};
    instruction.backward = backward;
    instruction.context = context;
    instruction.copy_from = ContextOf(value);
    p_.values.push_back(std::move(copied));
    p_.instructions.push_back(std::move(instruction));
    return copy;
  }

  Program& p_;
  std::map<std::pair<int, int>, int> copies_;  // by context and value
};

}  // namespace

void InsertCopies(Program& program) {
  if (program.contexts.size() > 1) CopyInsertion(program).Run();
}

}  // namespace cooper
