// The pass that computes cheap values a second time in the backward pass, instead of keeping them
// from the forward pass on (Chen et al., arXiv 1604.06174, "drop the results of low cost
// operations").

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "executor/compile/program_passes/peak_bytes.h"
#include "executor/compile/program_passes/program_passes.h"
#include "executor/plan/usage_profile.h"

namespace cooper {
namespace {

using Kind = ProgramBuffer::Kind;

// For less than a part of the memory in so many nothing is computed twice.
constexpr int64_t kParts = 20;
// The most operators that are run again for one value.
constexpr size_t kMaxGroup = 16;

// The steps that use a buffer. A step is an instruction's position; what is computed again belongs
// to the step before which that is done.
struct BufferUse {
  static constexpr int kNever = std::numeric_limits<int>::max();

  int first = kNever;
  int last_forward = -1;
  int first_backward = kNever;
  int last = -1;
  int forward_writers = 0, backward_writers = 0;
  bool whole = true;   // all its values have all of it
  int producer = -1;   // an instruction that can compute it again
  bool again = false;  // whether that is done
};

class Recomputer {
 public:
  explicit Recomputer(const Program& p) : p_(p), uses_(p.buffers.size()) {
    for (const ProgramValue& value : p.values) {
      if (value.offset != 0 || value.bytes() != p.buffers[value.buffer].bytes) {
        uses_[value.buffer].whole = false;
      }
    }
    for (int i = 0; i < End(); ++i) {
      const Instruction& instruction = p.instructions[i];
      if (!instruction.run) continue;
      ForEachValue(instruction, [&](int value) { Use(Buffer(value), i, instruction.backward); });
      for (size_t k = 0; k < instruction.outputs.size(); ++k) {
        if (instruction.reqs[k] == WriteReq::kNull) continue;
        BufferUse& use = uses_[Buffer(instruction.outputs[k])];
        ++(instruction.backward ? use.backward_writers : use.forward_writers);
      }
    }
    for (int output : p.outputs) {
      Use(Buffer(output), End(), /*backward=*/true);
      uses_[Buffer(output)].whole = false;  // the caller reads it
    }
    // What is computed last comes first: computing it again may read what comes before.
    for (int i = End() - 1; i >= 0; --i) {
      if (!CanRunAgain(p.instructions[i])) continue;
      BufferUse& use = uses_[OutputOf(i)];
      use.producer = i;
      const bool lies_idle =
          use.first_backward != BufferUse::kNever && use.first_backward > use.last_forward + 1;
      if (lies_idle) candidates_.push_back(i);
    }
  }

  // Finds the values to compute again: those that lower the peak. Whether there are any.
  bool Choose() {
    if (candidates_.empty()) return false;
    std::vector<UsageProfile> profiles = Profiles();
    for (int i : candidates_) {
      if (uses_[OutputOf(i)].again) continue;
      UsageProfile& profile = profiles[p_.instructions[i].context];
      const Group group = GroupOf(i);
      const UsageProfile::Peak before = profile.peak();
      for (const Change& change : group.changes) {
        profile.Add(change.begin, change.end, change.bytes);
      }
      if (profile.peak() >= before) {
        for (const Change& change : group.changes) {
          profile.Add(change.begin, change.end, -change.bytes);
        }
        continue;
      }
      const int step = uses_[OutputOf(i)].first_backward;
      for (int member : group.instructions) {
        uses_[OutputOf(member)].again = true;
        for (int input : p_.instructions[member].inputs) Use(Buffer(input), step, true);
      }
      chosen_.insert(group.instructions.begin(), group.instructions.end());
    }
    return !chosen_.empty();
  }

  // The program with those values computed again.
  Program Run() {
    Program result = p_;
    // By step: what is computed before it, the last one first.
    std::map<int, std::vector<Instruction>> again;
    std::map<int, int> new_buffers;
    for (int i : chosen_) {
      Instruction instruction = p_.instructions[i];
      instruction.backward = true;
      instruction.again = true;
      const int buffer = OutputOf(i);
      new_buffers[buffer] = static_cast<int>(result.buffers.size());
      result.buffers.push_back(p_.buffers[buffer]);
      const int step = uses_[buffer].first_backward;
      // Where a value is needed at several steps it comes before the first, as what it is made of.
      for (int input : instruction.inputs) Use(Buffer(input), step, /*backward=*/true);
      again[step].push_back(std::move(instruction));
    }
    std::map<int, int> new_values;
    const auto replace = [&](int& value) {
      const auto buffer = new_buffers.find(Buffer(value));
      if (buffer == new_buffers.end()) return;
      const auto [it, added] = new_values.emplace(value, static_cast<int>(result.values.size()));
      if (added) {
        result.values.push_back(p_.values[value]);
        result.values.back().buffer = buffer->second;
      }
      value = it->second;
    };
    std::vector<Instruction> instructions = std::exchange(result.instructions, {});
    const auto append = [&](Instruction instruction) {
      if (instruction.backward) {
        for (int& input : instruction.inputs) replace(input);
        for (int& output : instruction.outputs) replace(output);
      }
      result.instructions.push_back(std::move(instruction));
    };
    for (int i = 0; i < End(); ++i) {
      if (const auto it = again.find(i); it != again.end()) {
        for (auto last = it->second.rbegin(); last != it->second.rend(); ++last) {
          append(std::move(*last));
        }
      }
      append(std::move(instructions[i]));
    }
    return result;
  }

 private:
  int End() const { return static_cast<int>(p_.instructions.size()); }
  int Buffer(int value) const { return p_.values[value].buffer; }
  bool IsArena(int buffer) const { return p_.buffers[buffer].kind == Kind::kArena; }

  void Use(int buffer, int step, bool backward) {
    BufferUse& use = uses_[buffer];
    use.first = std::min(use.first, step);
    use.last = std::max(use.last, step);
    if (backward) {
      use.first_backward = std::min(use.first_backward, step);
    } else {
      use.last_forward = std::max(use.last_forward, step);
    }
  }

  int OutputOf(int instruction) const { return Buffer(p_.instructions[instruction].outputs[0]); }

  // An element-wise operator in the forward pass, whose inputs hold the same in the backward pass:
  // no instruction writes to an argument. (BatchNorm with fix_gamma does, and always the same.)
  bool CanRunAgain(const Instruction& instruction) const {
    if (!instruction.run || instruction.backward || instruction.copy_from >= 0 ||
        instruction.left_to_gradient || instruction.outputs.size() != 1 ||
        instruction.reqs[0] != WriteReq::kWrite || !instruction.node->op()->is_elementwise() ||
        p_.contexts[instruction.context].device_type != DeviceType::kCpu) {
      return false;
    }
    const int buffer = Buffer(instruction.outputs[0]);
    const BufferUse& use = uses_[buffer];
    if (!IsArena(buffer) || !use.whole || use.forward_writers != 1 || use.backward_writers != 0) {
      return false;
    }
    return std::all_of(instruction.inputs.begin(), instruction.inputs.end(), [&](int input) {
      const Kind kind = p_.buffers[Buffer(input)].kind;
      return kind == Kind::kArg ||
             (kind == Kind::kArena && uses_[Buffer(input)].backward_writers == 0);
    });
  }

  std::vector<UsageProfile> Profiles() const {
    std::vector<std::vector<int64_t>> usage(p_.contexts.size(), std::vector<int64_t>(End() + 2, 0));
    for (size_t i = 0; i < p_.buffers.size(); ++i) {
      if (!IsArena(static_cast<int>(i)) || uses_[i].last < 0) continue;
      std::vector<int64_t>& bytes = usage[p_.buffers[i].context];
      bytes[uses_[i].first] += p_.buffers[i].bytes;
      bytes[uses_[i].last + 1] -= p_.buffers[i].bytes;
    }
    std::vector<UsageProfile> profiles;
    for (std::vector<int64_t>& bytes : usage) {
      for (size_t step = 1; step < bytes.size(); ++step) bytes[step] += bytes[step - 1];
      profiles.emplace_back(bytes);
    }
    return profiles;
  }

  struct Change {
    int begin, end;  // steps
    int64_t bytes;   // more in use there
  };
  // A value to compute again.
  struct Group {
    std::vector<int> instructions;  // its own, and those of inputs that are no more
    std::vector<Change> changes;
  };

  Group GroupOf(int instruction) const {
    const int buffer = OutputOf(instruction);
    const BufferUse& use = uses_[buffer];
    Group group = {.instructions = {instruction},
                   .changes = {{use.last_forward + 1, use.first_backward, -BytesOf(buffer)}}};
    std::set<int> seen;
    for (size_t member = 0; member < group.instructions.size(); ++member) {
      for (int value : p_.instructions[group.instructions[member]].inputs) {
        const int input = Buffer(value);
        if (!IsArena(input) || !seen.insert(input).second) continue;
        MakeAvailable(input, use.first_backward, group);
      }
    }
    return group;
  }

  // Sees to it that a buffer has its contents at `step`.
  void MakeAvailable(int buffer, int step, Group& group) const {
    const BufferUse& use = uses_[buffer];
    const int64_t bytes = BytesOf(buffer);
    if (use.again) {
      group.changes.push_back({step, use.first_backward, bytes});
      group.changes.push_back({use.last + 1, step + 1, bytes});
    } else if (use.last < step && use.producer >= 0 && group.instructions.size() < kMaxGroup) {
      group.instructions.push_back(use.producer);
      group.changes.push_back({step, step + 1, bytes});
    } else {
      group.changes.push_back({use.last + 1, step + 1, bytes});
    }
  }

  int64_t BytesOf(int buffer) const { return p_.buffers[buffer].bytes; }

  const Program& p_;
  std::vector<BufferUse> uses_;           // by buffer
  std::vector<int> candidates_;           // instructions, the last one first
  std::set<int, std::greater<>> chosen_;  // likewise, with those that they need again
};

}  // namespace

void Recompute(Program& p) {
  Recomputer recomputer(p);
  if (!recomputer.Choose()) return;
  Program result = recomputer.Run();
  // By now with operators in place, which the choice knows nothing of.
  const int64_t before = PeakBytes(p);
  if (before - PeakBytes(result) >= before / kParts) p = std::move(result);
}

}  // namespace cooper
