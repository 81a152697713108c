#include "tests/module/module_fixtures.h"

#include <vector>

#include "ndarray/random/random.h"

namespace cooper {

Symbol TwoLayers() {
  const Symbol fc1 =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  const Symbol act =
      Op("Activation", {.name = "act", .inputs = {fc1}, .attrs = {{"act_type", "tanh"}}});
  const Symbol fc2 =
      Op("FullyConnected", {.name = "fc2", .inputs = {act}, .attrs = {{"num_hidden", "3"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc2}});
}

Symbol MeanOverTime(bool swapped) {
  const Symbol mean = Op("mean", {.name = "mean",
                                  .inputs = {Symbol::Variable("data")},
                                  .attrs = {{"axis", "1"}, {"keepdims", "True"}}});
  const auto scaled = [&mean](const char* name) {
    return Op("broadcast_mul",
              {.inputs = {Symbol::Variable(name, {.shape = PartialShape({1, 3})}), mean}});
  };
  const Symbol a = scaled(swapped ? "b_weight" : "a_weight");
  const Symbol b = scaled(swapped ? "a_weight" : "b_weight");
  const Symbol features = Op("elemwise_mul", {.inputs = {a, b}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {features}, .attrs = {{"num_hidden", "2"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

NDArray RandomArray(const Shape& shape, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& value : values) value = static_cast<float>(random.NextUniform() * 2 - 1);
  return *NDArray::FromVector<float>(shape, values);
}

NDArray Classes(int64_t rows, int num_classes, uint64_t seed) {
  RandomGenerator random(seed + 1000);
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(random.NextBelow(static_cast<uint64_t>(num_classes))));
  }
  return *NDArray::FromVector<float>({rows}, values);
}

}  // namespace cooper
