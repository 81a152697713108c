// The pass that inserts copies between contexts, for graphs whose parts are placed on several.

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/passes/program/program_passes.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

class CopyInsertion {
 public:
  explicit CopyInsertion(Program& program) : p_(program) {}

  void Run() {
    std::vector<Instruction> before = std::exchange(p_.instructions, {});
    for (Instruction& instruction : before) {
      const std::vector<int> originals = instruction.inputs;
      for (int& input : instruction.inputs) {
        input = On(instruction.context, input, instruction.backward);
      }
      const std::vector<int> written =
          instruction.node->op()->WrittenInputs(instruction.node->call());
      const std::vector<int> used = instruction.inputs;
      const bool backward = instruction.backward;
      p_.instructions.push_back(std::move(instruction));
      for (int i : written) TakeWritten(originals[i], used[i], backward);
    }
    for (ProgramGradient& g : p_.gradients) {
      if (g.value < 0) continue;
      g.value = On(ContextOf(p_.arg_values[g.arg]), g.value, /*backward=*/true);
    }
  }

 private:
  int ContextOf(int value) const { return p_.buffers[p_.values[value].buffer].context; }

  // Handles an instruction that has changed `used`, which is the caller's array `original` or a
  // copy of it: copies the change back to the array and invalidates other copies.
  void TakeWritten(int original, int used, bool backward) {
    if (p_.buffers[p_.values[original].buffer].kind == ProgramBuffer::Kind::kArena) return;
    if (used != original) AddCopy(used, original, backward);
    for (auto& [at, copy] : copies_) {
      if (at.second == original && copy != used) copy = -1;
    }
  }

  // Returns the value on a context: itself, or a copy, which is inserted at the first use.
  int On(int context, int value, bool backward) {
    if (ContextOf(value) == context) return value;
    int& copy = copies_.emplace(std::pair(context, value), -1).first->second;
    if (copy >= 0) return copy;
    ProgramValue copied = p_.values[value];
    copied.buffer = static_cast<int>(p_.buffers.size());
    p_.buffers.push_back({.context = context, .bytes = p_.buffers[p_.values[value].buffer].bytes});
    copy = static_cast<int>(p_.values.size());
    p_.values.push_back(std::move(copied));
    AddCopy(value, copy, backward);
    return copy;
  }

  void AddCopy(int from, int to, bool backward) {
    Instruction instruction;
    instruction.context = ContextOf(to);
    instruction.node = MakeNode("_CrossDeviceCopy",
                                absl::StrCat(OutputName(p_.values[from].entry), "_copy_",
                                             p_.contexts[instruction.context].ToString()),
                                {})
                           .value();
    instruction.inputs = {from};
    instruction.outputs = {to};
    instruction.reqs = {WriteReq::kWrite};
    instruction.backward = backward;
    instruction.copy_from = ContextOf(from);
    p_.instructions.push_back(std::move(instruction));
  }

  Program& p_;
  std::map<std::pair<int, int>, int> copies_;  // by context and value
};

}  // namespace

void InsertCopies(Program& program) {
  if (program.contexts.size() > 1) CopyInsertion(program).Run();
}

}  // namespace cooper
