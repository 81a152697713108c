// Compares operators on a GPU with the CPU for NaN, zeros and numbers at the limits of float32.

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/schema/param_schema.h"
#include "tests/operators/run_operator.h"

namespace cooper {
namespace {

using ::testing::NanSensitiveFloatEq;
using ::testing::Pointwise;

NDArray Floats(const Shape& shape, const std::vector<float>& values) {
  return *NDArray::FromVector<float>(shape, values);
}

struct SpecialCase {
  const char* name;
  const char* op;
  AttrMap attrs;
  std::vector<NDArray> inputs;
};

TEST(SpecialValuesOnGpuTest, EqualTheCpus) {
  COOPER_REQUIRE_GPU();
  const float nan = std::nanf("");
  const SpecialCase cases[] = {
      {"LossOfNan",
       "softmax_cross_entropy",
       {},
       {Floats({2, 3}, {0, nan, 0, 0, 0, 0}), Floats({2}, {1, 2})}},
      {"LpPoolingOfWindowsThatSumToZero",
       "Pooling",
       {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pool_type", "lp"}, {"p_value", "1"}},
       {Floats({1, 1, 4}, {1, -1, 0, 0})}},
      {"GemmWithoutBeta",
       "linalg_gemm",
       {{"beta", "0"}},
       {Floats({1, 2}, {1, 2}), Floats({2, 1}, {3, 4}), Floats({1, 1}, {nan})}},
      {"NormsOfNumbersWhoseSquaresAreNone",
       "norm",
       {{"axis", "1"}},
       {Floats({3, 2}, {3e30F, 4e30F, 3e-30F, 4e-30F, 0, 0})}},
  };
  for (const SpecialCase& c : cases) {
    SCOPED_TRACE(c.name);
    COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun cpu, RunOperator(c.op, c.attrs, c.inputs));
    COOPER_ASSERT_OK_AND_ASSIGN(const OperatorRun gpu,
                                RunOperator(c.op, c.attrs, c.inputs, Context::Gpu(0)));
    for (size_t i = 0; i < cpu.outputs.size(); ++i) {
      EXPECT_THAT(gpu.outputs[i], Pointwise(NanSensitiveFloatEq(), cpu.outputs[i])) << i;
    }
    for (size_t i = 0; i < cpu.grads.size(); ++i) {
      EXPECT_THAT(gpu.grads[i], Pointwise(NanSensitiveFloatEq(), cpu.grads[i])) << i;
    }
  }
}

}  // namespace
}  // namespace cooper
