// Tests that operators that draw arrays draw the same numbers on gpu(0) and cpu(0).

#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/kernels/launch/block_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

struct DrawCase {
  const char* op;
  AttrMap attrs;
  int inputs = 0;           // each has 5 elements
  double tolerance = 1e-5;  // for functions whose last bits depend on the device
};

const double kExactly = 0;

const DrawCase kCases[] = {
    {"_random_uniform", {{"low", "-2"}, {"high", "3"}, {"shape", "(15, 99)"}}, 0, kExactly},
    {"_random_uniform", {{"shape", "(15, 99)"}, {"dtype", "float16"}}, 0, kExactly},
    {"_random_uniform",
     {{"high", "0.3"}, {"shape", "(15, 99)"}, {"dtype", "float64"}},
     0,
     kExactly},
    {"_random_normal", {{"loc", "1"}, {"scale", "3"}, {"shape", "1301"}}, 0, kExactly},
    {"_random_normal",
     {{"loc", "1"}, {"scale", "3"}, {"shape", "1301"}, {"dtype", "float64"}},
     0,
     kExactly},
    {"_random_gamma", {{"alpha", "0.5"}, {"shape", "301"}}},
    {"_random_gamma", {{"alpha", "7"}, {"shape", "301"}, {"dtype", "float64"}}},
    {"_random_exponential", {{"lam", "0.3"}, {"shape", "301"}, {"dtype", "float64"}}, 0, kExactly},
    {"_random_poisson", {{"lam", "3.5"}, {"shape", "301"}}},
    {"_random_poisson", {{"lam", "300"}, {"shape", "301"}}},
    {"_random_negative_binomial", {{"k", "3"}, {"p", "0.4"}, {"shape", "301"}}},
    {"_random_generalized_negative_binomial", {{"mu", "2"}, {"alpha", "0.5"}, {"shape", "301"}}},
    {"_random_randint", {{"low", "-5"}, {"high", "1000000"}, {"shape", "301"}}},
    {"_random_randint",
     {{"low", "-9000000000"}, {"high", "9000000000"}, {"shape", "301"}, {"dtype", "int64"}}},
    {"_random_normal_like", {}, 1, kExactly},
    {"_sample_uniform", {{"shape", "(3, 21)"}}, 2},
    {"_sample_gamma", {}, 2},
    {"_sample_poisson", {{"shape", "40"}}, 1},
};

// Returns the numbers of two runs.
std::vector<double> Draw(const DrawCase& c, const Context& context) {
  OpArgs args{.name = "op", .attrs = c.attrs};
  BindOptions options{.context = context, .grad_req = WriteReq::kNull};
  for (int i = 0; i < c.inputs; ++i) {
    args.inputs.push_back(Symbol::Variable("x" + std::to_string(i)));
    options.shapes["x" + std::to_string(i)] = {5};
  }
  auto symbol = Symbol::Create(c.op, args);
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  auto executor = Executor::SimpleBind(*symbol, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  for (int i = 0; i < c.inputs; ++i) {
    const NDArray values = *NDArray::FromVector<float>({5}, {0.5, 1, 2.5, 7, 30});
    COOPER_EXPECT_OK((*executor)->arg("x" + std::to_string(i)).CopyFrom(values));
  }
  std::vector<double> numbers;
  for (int run = 0; run < 2; ++run) {
    COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
    const NDArray output = *(*(*executor)->outputs())[0].CopyTo(Context::Cpu(0));
    const std::vector<double> values = *(*output.AsType(DType::kFloat64)).ToVector<double>();
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

// A limit of one block makes each thread draw several numbers.
TEST(DrawCudaTest, GpuDrawsWhatTheCpuDraws) {
  COOPER_REQUIRE_GPU();
  const ScopedBlockLimit few_blocks(1);
  for (const DrawCase& test : kCases) {
    SCOPED_TRACE(test.op + testing::PrintToString(test.attrs));
    const std::vector<double> expected = Draw(test, Context::Cpu(0));
    EXPECT_THAT(Draw(test, Context::Gpu(0)), Pointwise(DoubleNear(test.tolerance), expected));
  }
}

}  // namespace
}  // namespace cooper
