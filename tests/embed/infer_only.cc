// Uses only shape inference: reads an operator's parameters, infers, prints.

#include <iostream>

#include "ndarray/base/partial_shape.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

int main() {
  const cooper::Symbol data = cooper::Symbol::Variable("data");
  const auto output = cooper::Symbol::Create(
      "FullyConnected", {.name = "fc", .inputs = {data}, .attrs = {{"num_hidden", "800"}}});
  if (!output.ok()) {
    std::cerr << output.status() << "\n";
    return 1;
  }
  const auto shapes = cooper::InferShape(*output, {{"data", cooper::PartialShape({32, 650})}});
  if (!shapes.ok()) {
    std::cerr << shapes.status() << "\n";
    return 1;
  }
  const auto names = output->ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    std::cout << names[i] << " " << shapes->args[i].ToString() << "\n";
  }
  return 0;
}
