#include "tests/passes/graph_draft.h"

#include <algorithm>

#include "executor/executor_fixtures.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

GraphDraft::GraphDraft(uint64_t seed) : random_(seed) {
  graph_.dtype = Chance(0.5) ? DType::kFloat64 : DType::kFloat32;
  batch_ = Between(1, 3);
}

Symbol GraphDraft::Variable(const std::string& name, const Shape& shape) {
  graph_.shapes[name] = shape;
  graph_.types[name] = graph_.dtype;
  return Symbol::Variable(name);
}

Symbol GraphDraft::ClassVariable(const Shape& shape, int64_t classes) {
  const std::string name = Name("label");
  graph_.classes[name] = classes;
  return Variable(name, shape);
}

std::vector<GraphValue> GraphDraft::Outputs(const char* op, const std::vector<GraphValue>& inputs,
                                            const AttrMap& attrs) {
  std::vector<Symbol> symbols, stand_ins;
  KnownShapes shapes;
  for (const GraphValue& input : inputs) {
    symbols.push_back(input.symbol);
    stand_ins.push_back(Symbol::Variable(absl::StrCat("stand_in", stand_ins.size())));
    shapes[stand_ins.back().name()] = input.shape;
  }
  const Symbol symbol = Op(op, {.name = Name(op), .inputs = symbols, .attrs = attrs});
  const InferredShapes inferred =
      Checked(InferShape(Op(op, {.inputs = stand_ins, .attrs = attrs}), shapes));
  std::vector<GraphValue> outputs;
  outputs.reserve(symbol.num_outputs());
  for (int i = 0; i < symbol.num_outputs(); ++i) {
    outputs.push_back({symbol[i], inferred.outputs[i].ToShape()});
  }
  return outputs;
}

RandomGraph GraphDraft::Finish() {
  std::vector<Symbol> outputs = results_;
  for (int64_t i = Between(1, 3); i > 0; --i) outputs.push_back(PickValue().symbol);
  random_.Shuffle(outputs);
  graph_.symbol = WithInnerOutputs(Checked(Symbol::Group(outputs)));
  // Sets the type of weights that inference cannot determine.
  for (const std::string& name : graph_.symbol.ListArguments()) {
    graph_.types.try_emplace(name, graph_.dtype);
  }
  ChooseRequests();
  return std::move(graph_);
}

Symbol GraphDraft::WithInnerOutputs(const Symbol& symbol) {
  if (Chance(0.6)) return symbol;
  const Symbol inner = symbol.GetInternals();
  std::vector<Symbol> outputs = {symbol};
  for (int64_t i = Between(1, 2); i > 0; --i) {
    Symbol value = inner[static_cast<int>(Between(0, inner.num_outputs() - 1))];
    if (Chance(0.5)) value = Op("tanh", {.name = Name("tanh"), .inputs = {value}});
    outputs.push_back(std::move(value));
  }
  return Checked(Symbol::Group(outputs));
}

void GraphDraft::ChooseRequests() {
  const std::vector<WriteReq> all = {WriteReq::kWrite, WriteReq::kAdd, WriteReq::kNull};
  const WriteReq one = Chance(0.7) ? WriteReq::kWrite : WriteReq::kAdd;
  const bool mixed = Chance(0.5);
  std::vector<std::string> used = graph_.symbol.ListArguments();
  std::sort(used.begin(), used.end());
  for (const std::string& name : used) {
    const bool none = graph_.classes.contains(name) && Chance(0.8);
    graph_.grad_reqs[name] = none ? WriteReq::kNull : mixed ? Pick(all) : one;
  }
  auto unused = [&](const auto& item) {
    return !std::binary_search(used.begin(), used.end(), item.first);
  };
  std::erase_if(graph_.shapes, unused);
  std::erase_if(graph_.types, unused);
  std::erase_if(graph_.classes, unused);
}

}  // namespace cooper
