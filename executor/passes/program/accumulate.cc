#include <algorithm>
#include <vector>

#include "executor/passes/program/program_passes.h"

namespace cooper {
namespace {

// Returns the request for the output `value` of `instruction`.
WriteReq& RequestOf(Instruction& instruction, int value) {
  const auto it = std::find(instruction.outputs.begin(), instruction.outputs.end(), value);
  return instruction.reqs[it - instruction.outputs.begin()];
}

bool IsSum(const Instruction& instruction) { return instruction.node->op()->name() == "_grad_sum"; }

}  // namespace

void AccumulateGradients(Program& p) {
  const std::vector<int> reads = p.CountReads();
  const std::vector<int> producers = p.Producers();
  std::vector<bool> dead(p.instructions.size(), false);
  for (size_t s = 0; s < p.instructions.size(); ++s) {
    Instruction& sum = p.instructions[s];
    if (!IsSum(sum)) continue;
    std::vector<int> folded;  // producing instructions
    std::vector<int> terms;   // their values
    std::vector<int> rest;
    for (int term : sum.inputs) {
      const int producer = producers[term];
      const ProgramBuffer& buffer = p.buffers[p.values[term].buffer];
      // A term that is itself a sum keeps its own buffer: its terms may run before ours, and the
      // first of ours would overwrite them. Two outputs of one instruction would have to be written
      // in the order of the requests, which kernels do not guarantee.
      const bool is_new = std::find(folded.begin(), folded.end(), producer) == folded.end();
      if (is_new && reads[term] == 1 && producer >= 0 &&
          buffer.kind == ProgramBuffer::Kind::kArena && !IsSum(p.instructions[producer]) &&
          p.instructions[producer].copy_from < 0 &&
          p.values[term].dtype == p.values[sum.outputs[0]].dtype) {
        terms.push_back(term);
        folded.push_back(producer);
      } else {
        rest.push_back(term);
      }
    }
    if (terms.empty()) continue;
    // The first one to run has the request of the sum, the others add to it.
    const int first =
        static_cast<int>(std::min_element(folded.begin(), folded.end()) - folded.begin());
    const WriteReq req = sum.reqs[0];
    for (size_t k = 0; k < terms.size(); ++k) {
      p.values[terms[k]].buffer = p.values[sum.outputs[0]].buffer;
      RequestOf(p.instructions[folded[k]], terms[k]) =
          static_cast<int>(k) == first ? req : WriteReq::kAdd;
    }
    if (rest.empty()) {
      dead[s] = true;
    } else {
      sum.inputs = rest;
      sum.reqs[0] = WriteReq::kAdd;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < p.instructions.size(); ++i) {
    if (dead[i]) continue;
    if (kept != i) p.instructions[kept] = std::move(p.instructions[i]);
    ++kept;
  }
  p.instructions.resize(kept);
}

}  // namespace cooper
