#include <utility>
#include <vector>

#include "executor/passes/program/program_passes.h"

namespace cooper {
namespace {

int AddGradientValue(Program& p, int arg) {
  const ProgramValue& source = p.values[p.arg_values[arg]];
  ProgramValue value;
  value.shape = source.shape;
  value.dtype = source.dtype;
  value.entry = source.entry;
  value.buffer = static_cast<int>(p.buffers.size());
  p.buffers.push_back({.kind = ProgramBuffer::Kind::kGrad,
                       .slot = arg,
                       .context = p.buffers[source.buffer].context,
                       .bytes = p.buffers[source.buffer].bytes});
  p.values.push_back(std::move(value));
  return static_cast<int>(p.values.size()) - 1;
}

}  // namespace

void RouteGradients(Program& p) {
  std::vector<int> reads = p.CountReads();
  for (const ProgramGradient& g : p.gradients) {
    if (g.value >= 0) ++reads[g.value];
  }
  const std::vector<int> producers = p.Producers();
  std::vector<Instruction> added;
  for (ProgramGradient& g : p.gradients) {
    const std::string& name = p.arg_names[g.arg];
    if (g.value < 0) {
      if (g.req == WriteReq::kAdd) continue;
      Instruction zero;
      zero.node = MakeNode("_zeros", name + "_grad", {}).value();
      zero.outputs = {AddGradientValue(p, g.arg)};
      zero.reqs = {WriteReq::kWrite};
      zero.backward = true;
      zero.context = p.buffers[p.values[zero.outputs[0]].buffer].context;
      added.push_back(std::move(zero));
      continue;
    }
    ProgramBuffer& buffer = p.buffers[p.values[g.value].buffer];
    const int producer = producers[g.value];
    const bool own = buffer.kind == ProgramBuffer::Kind::kArena && producer >= 0 &&
                     (p.instructions[producer].copy_from < 0 || g.req == WriteReq::kWrite);
    if (own && (g.req == WriteReq::kWrite || reads[g.value] == 1)) {
      buffer.kind = ProgramBuffer::Kind::kGrad;
      buffer.slot = g.arg;
      Instruction& instruction = p.instructions[producer];
      for (size_t k = 0; k < instruction.outputs.size(); ++k) {
        if (instruction.outputs[k] == g.value) instruction.reqs[k] = g.req;
      }
      continue;
    }
    Instruction copy;
    copy.context = buffer.context;
    copy.node = MakeNode("_copy", name + "_grad", {}).value();
    copy.inputs = {g.value};
    copy.outputs = {AddGradientValue(p, g.arg)};
    copy.reqs = {g.req};
    copy.backward = true;
    added.push_back(std::move(copy));
  }
  for (Instruction& instruction : added) p.instructions.push_back(std::move(instruction));
}

}  // namespace cooper
