// Tests that operators that draw random numbers draw the same on gpu(0) and cpu(0).

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

struct RandomCase {
  const char* name;
  const char* op;
  AttrMap attrs;
  WriteReq grad_req = WriteReq::kWrite;

  friend std::ostream& operator<<(std::ostream& os, const RandomCase& c) { return os << c.name; }
};

const RandomCase kCases[] = {
    // name          op           attributes                              grad_req
    {"Whole", "Dropout", {{"p", "0.3"}}},
    {"Added", "Dropout", {{"p", "0.5"}}, WriteReq::kAdd},
    {"SharedRows", "Dropout", {{"p", "0.5"}, {"axes", "(0,)"}}},
    {"SharedColumns", "Dropout", {{"p", "0.5"}, {"axes", "(1,)"}}},
    {"Everything", "Dropout", {{"p", "1"}}},
    {"Slopes", "LeakyReLU", {{"act_type", "rrelu"}}},
};

class RandomOpsTest : public testing::TestWithParam<RandomCase> {};

// Returns the outputs and gradients of two training steps on data from -1 to 1.
std::vector<std::vector<float>> Train(const RandomCase& c, const Context& context) {
  constexpr int64_t kRows = 13, kColumns = 37;
  auto symbol =
      Symbol::Create(c.op, {.name = "op", .inputs = {Symbol::Variable("data")}, .attrs = c.attrs});
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  auto executor = Executor::SimpleBind(
      *symbol,
      {.context = context, .shapes = {{"data", {kRows, kColumns}}}, .grad_req = c.grad_req});
  EXPECT_TRUE(executor.ok()) << executor.status();
  std::vector<float> values(kRows * kColumns);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 31 % 64) / 32 - 1;
  }
  const NDArray data = *NDArray::FromVector<float>({kRows, kColumns}, values);
  COOPER_EXPECT_OK((*executor)->arg("data").CopyFrom(data));
  COOPER_EXPECT_OK((*executor)->grad("data").Fill(2));
  const std::vector<NDArray> heads((*executor)->output_shapes().size(), *data.CopyTo(context));
  std::vector<std::vector<float>> results;
  for (int step = 0; step < 2; ++step) {
    COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
    results.push_back(*(*(*executor)->outputs())[0].ToVector<float>());
    COOPER_EXPECT_OK((*executor)->Backward(heads));
    results.push_back(*(*executor)->grad("data").ToVector<float>());
  }
  return results;
}

TEST_P(RandomOpsTest, GpuDrawsWhatTheCpuDraws) {
  COOPER_REQUIRE_GPU();
  EXPECT_EQ(Train(GetParam(), Context::Gpu(0)), Train(GetParam(), Context::Cpu(0)));
}

INSTANTIATE_TEST_SUITE_P(Cases, RandomOpsTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cooper
