// Tests that initializers and fills on a GPU give the CPU's bits, and that no array passes through
// the host.

#include "module/initializer/initializers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/create_initializer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(LAZY, "1");

using ::testing::Each;

const Context kGpu = Context::Gpu(0);

struct InitializerCase {
  const char* name;
  init::InitializerPtr initializer;
};

std::vector<InitializerCase> Cases() {
  std::vector<InitializerCase> cases;
  cases.push_back({"Zero", init::Zero()});
  cases.push_back({"One", init::One()});
  cases.push_back({"Constant", init::Constant(0.3)});
  cases.push_back({"Uniform", init::Uniform(0.07)});
  cases.push_back({"Normal", init::Normal(0.3)});
  cases.push_back({"Xavier", init::Xavier()});
  cases.push_back({"MsraPrelu", init::MsraPrelu()});
  cases.push_back({"LstmBias", init::LstmBias(1.5)});
  cases.push_back({"Orthogonal", init::Orthogonal()});
  cases.push_back({"Bilinear", init::Bilinear()});
  return cases;
}

TEST(InitializersOnGpuTest, HaveTheCpusBits) {
  COOPER_REQUIRE_GPU();
  for (const InitializerCase& c : Cases()) {
    for (const DType dtype :
         {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
      // One shape needs one block of threads, the other several, the last of which is not full.
      for (const Shape& shape : {Shape({4, 1, 3, 3}), Shape({40, 1, 7, 7})}) {
        SCOPED_TRACE(testing::Message() << c.name << " " << DTypeName(dtype) << " " << shape);
        const NDArray on_cpu = *NDArray::Full(shape, -7, dtype);
        const NDArray on_gpu = *NDArray::Full(shape, -7, dtype, kGpu);
        COOPER_ASSERT_OK(c.initializer->Init({.name = "a_weight"}, on_cpu, 11));
        COOPER_ASSERT_OK(c.initializer->Init({.name = "a_weight"}, on_gpu, 11));
        EXPECT_EQ(*on_gpu.ToVector<double>(), *on_cpu.ToVector<double>());
      }
    }
  }
}

// Under the emulator, work runs only when something waits for it.
TEST(InitializersOnGpuTest, WaitForNothing) {
  COOPER_REQUIRE_GPU();
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  if (std::string(properties.name).find("emulator") == std::string::npos) {
    GTEST_SKIP() << "a GPU runs work by itself";
  }
  for (const InitializerCase& c : Cases()) {
    SCOPED_TRACE(c.name);
    const NDArray first = *NDArray::Empty({8, 1, 3, 3}, DType::kFloat32, kGpu);
    const NDArray second = *NDArray::Empty({8, 1, 3, 3}, DType::kFloat32, kGpu);
    cudaEvent_t event = nullptr;
    ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
    COOPER_ASSERT_OK(first.Fill(3));
    ASSERT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
    COOPER_ASSERT_OK(c.initializer->Init({.name = "a_weight"}, second, 11));
    COOPER_ASSERT_OK(c.initializer->Init({.name = "a_bias"}, second, 11));
    COOPER_ASSERT_OK(c.initializer->Init({.name = "a_gamma"}, second, 11));
    EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
    cudaGetLastError();
    EXPECT_THAT(*first.ToVector<float>(), Each(3));
    EXPECT_THAT(*second.ToVector<float>(), Each(1)) << "gamma";
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  }
}

TEST(FillsOnGpuTest, EveryDTypeIsFilled) {
  COOPER_REQUIRE_GPU();
#define COOPER_DTYPE(enumerator, code, type, name) DType::enumerator,
  for (const DType dtype : {COOPER_DTYPES(COOPER_DTYPE)}) {
#undef COOPER_DTYPE
    SCOPED_TRACE(DTypeName(dtype));
    const NDArray array = *NDArray::Full({1001}, 7.75, dtype, kGpu);
    EXPECT_EQ(*array.ToVector<double>(), *NDArray::Full({1001}, 7.75, dtype)->ToVector<double>());
    // Fills a slice of the array.
    COOPER_ASSERT_OK(array.Slice(3, 500)->Fill(1));
    EXPECT_THAT(*array.Slice(3, 500)->ToVector<double>(), Each(1));
    EXPECT_EQ(*array.Slice(500, 1001)->ToVector<double>(),
              *NDArray::Full({501}, 7.75, dtype)->ToVector<double>());
  }
}

}  // namespace
}  // namespace cooper
