#include "executor/passes/graph/graph_rebuilder.h"

namespace cooper {

std::vector<NodeEntry> GraphRebuilder::NewInputs(int i) const {
  std::vector<NodeEntry> inputs;
  inputs.reserve(facts_.node(i).inputs().size());
  for (const NodeEntry& input : facts_.node(i).inputs()) inputs.push_back(New(input));
  return inputs;
}

NodePtr GraphRebuilder::Copy(int i, std::vector<NodeEntry> inputs) {
  Node::Fields fields = facts_.node(i).fields();
  fields.inputs = std::move(inputs);
  fields.variables = nullptr;
  NodePtr copy = Node::Make(std::move(fields));
  result_.copies.emplace_back(copy, &facts_.node(i));
  return copy;
}

void GraphRebuilder::Keep(int i, std::vector<NodeEntry> inputs) {
  NodePtr node = facts_.owner(i);
  if (inputs != node->inputs()) node = Copy(i, std::move(inputs));
  for (int k = 0; k < node->num_outputs(); ++k) {
    result_.entries[facts_.graph().first_entry(i) + k] = {node, k};
  }
}

void GraphRebuilder::Fold(const NodeEntry& old, std::string name) {
  const Symbol variable = Symbol::Variable(name);
  Replace(old, variable.outputs()[0]);
  result_.folded.push_back({.name = std::move(name),
                            .expression = Symbol(std::vector<NodeEntry>{old}),
                            .variable = variable.outputs()[0].node});
}

GraphRewrite GraphRebuilder::Finish() {
  std::vector<NodeEntry> outputs;
  for (const NodeEntry& output : facts_.symbol().outputs()) outputs.push_back(New(output));
  result_.symbol = Symbol(std::move(outputs));
  return std::move(result_);
}

}  // namespace cooper
