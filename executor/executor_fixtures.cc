#include "executor/executor_fixtures.h"

#include <utility>

#include "glog/logging.h"
#include "ndarray/random/random.h"

namespace cooper {

Symbol Op(const char* op, const OpArgs& args) {
  auto symbol = Symbol::Create(op, args);
  CHECK(symbol.ok()) << symbol.status();
  return *symbol;
}

void FillRandom(const NDArray& array, uint64_t seed) {
  auto values = array.Data<float>();
  CHECK(values.ok()) << values.status();
  RandomGenerator random(seed);
  for (float& value : *values) value = static_cast<float>(random.NextNormal() * 0.5);
}

std::vector<NDArray> RandomArrays(const std::vector<Shape>& shapes, uint64_t seed) {
  std::vector<NDArray> arrays;
  arrays.reserve(shapes.size());
  for (const Shape& shape : shapes) {
    auto array = NDArray::Empty(shape);
    CHECK(array.ok()) << array.status();
    FillRandom(*array, seed++);
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

std::vector<float> Floats(const NDArray& array) {
  auto values = array.ToVector<float>();
  CHECK(values.ok()) << values.status();
  return *std::move(values);
}

}  // namespace cooper
