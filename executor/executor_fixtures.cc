#include "executor/executor_fixtures.h"

#include <utility>

#include "glog/logging.h"
#include "ndarray/random.h"

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

std::vector<float> Floats(const NDArray& array) {
  auto values = array.ToVector<float>();
  CHECK(values.ok()) << values.status();
  return *std::move(values);
}

}  // namespace cooper
