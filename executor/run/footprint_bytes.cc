#include "executor/run/footprint_bytes.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "executor/plan/live_range.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

// The bytes that malloc adds to each block.
constexpr int64_t kBlock = 16;
// The bytes of a node of a map of strings, without the heap memory of long strings.
constexpr int64_t kMapNode = kBlock + 32 + 2 * sizeof(std::string);
// The assumed bytes of an operator's parsed parameters, whose true size is not known.
constexpr int64_t kParams = 64;

int64_t TextBytes(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0
                                                   : static_cast<int64_t>(text.capacity()) + kBlock;
}

template <typename T>
int64_t ArrayBytes(size_t size) {
  return size == 0 ? 0 : kBlock + static_cast<int64_t>(size * sizeof(T));
}

int64_t NodeBytes(const Node& node) {
  int64_t bytes = kBlock + sizeof(Node) + TextBytes(node.name()) +
                  ArrayBytes<NodeEntry>(node.inputs().size()) + (node.is_variable() ? 0 : kParams);
  for (const auto& [name, value] : node.attrs()) {
    bytes += kMapNode + TextBytes(name) + TextBytes(value);
  }
  return bytes;
}

}  // namespace

int64_t FootprintBytes(const CompiledProgram& compiled) {
  const Program& program = compiled.program();
  int64_t bytes = sizeof(CompiledProgram);
  absl::flat_hash_set<const Node*> nodes;
  for (const Node* node : TopologicalOrder(compiled.symbol().outputs())) nodes.insert(node);
  for (const Instruction& instruction : program.instructions) {
    const size_t in = instruction.inputs.size(), out = instruction.outputs.size();
    bytes += sizeof(Instruction) + ArrayBytes<int>(in) + ArrayBytes<int>(out) +
             ArrayBytes<WriteReq>(out) + sizeof(CompiledProgram::Step);
    // A binding adds views of the inputs and outputs, and the kernel's context.
    bytes += 2 * kBlock + sizeof(KernelContext) + ArrayBytes<ArrayView>(in) +
             ArrayBytes<ArrayView>(out) + 2 * sizeof(std::vector<ArrayView>);
    nodes.insert(instruction.node.get());
  }
  for (const ProgramValue& value : program.values) {
    bytes += sizeof(ProgramValue) + sizeof(int);
    if (value.entry) nodes.insert(value.entry.node.get());
  }
  bytes += static_cast<int64_t>(program.buffers.size() * (sizeof(ProgramBuffer) + 2 * sizeof(int)));
  bytes += compiled.layout().num_ranges() *
           static_cast<int64_t>(sizeof(LiveRange) + sizeof(int64_t) + sizeof(int));
  for (const Node* node : nodes) {
    if (node != nullptr) bytes += NodeBytes(*node);
  }
  return bytes;
}

}  // namespace cooper
