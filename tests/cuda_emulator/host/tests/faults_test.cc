// Tests that the shim, or the sanitizer of the build, finds each bug and reports what it is and
// where.

#include "tests/cuda_emulator/host/tests/faults.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>

#include "absl/base/config.h"
#include "cuda_runtime.h"
#include "gtest/gtest.h"

namespace cooper::host_shim {
namespace {

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
constexpr bool kAsan = true;
#else
constexpr bool kAsan = false;
#endif
#ifdef ABSL_HAVE_THREAD_SANITIZER
constexpr bool kTsan = true;
#else
constexpr bool kTsan = false;
#endif

constexpr size_t kBytes = kFaultElements * sizeof(float);

// The tool that finds a bug.
enum class By { kShim, kAsan, kTsan };

struct Arrays {
  float* x = nullptr;
  float* y = nullptr;
};

struct Fault {
  const char* name;
  By by;
  const char* message;  // regular expression for stderr
  std::function<cudaError_t(const Arrays&)> run;
};

void PrintTo(const Fault& fault, std::ostream* stream) { *stream << fault.name; }

const Fault kFaults[] = {
    {"MissingBarrier", By::kTsan, "data race",
     [](const Arrays& a) { return MissingBarrier(a.x, a.y); }},
    {"MissingSyncWarp", By::kTsan, "data race",
     [](const Arrays& a) { return MissingSyncWarp(a.x, a.y); }},
    {"RaceOfBlocks", By::kTsan, "data race", [](const Arrays& a) { return RaceOfBlocks(a.y); }},
    {"PastGlobal", By::kAsan, "heap-buffer-overflow",
     [](const Arrays& a) { return PastGlobal(a.x, a.y); }},
    {"UseAfterFree", By::kAsan, "heap-use-after-free",
     [](const Arrays& a) {
       cudaFree(a.x);
       return CopyElements(a.x, a.y);
     }},
    // UBSan, if enabled too, reports it first.
    {"PastShared", By::kAsan, "global-buffer-overflow|index 64 out of bounds",
     [](const Arrays& a) { return PastShared(1, a.y); }},
    {"PastDynamicShared", By::kAsan, "heap-buffer-overflow",
     [](const Arrays& a) { return PastDynamicShared(a.y); }},
    {"DividedBarrier", By::kShim, "a barrier that divides the block",
     [](const Arrays& a) { return DividedBarrier(a.y); }},
    {"BarrierAndShuffle", By::kShim, "threads wait for others for ever",
     [](const Arrays& a) { return BarrierAndShuffle(a.y); }},
    {"MaskWithoutCaller", By::kShim, "a mask that leaves the calling lane out",
     [](const Arrays& a) { return MaskWithoutCaller(a.y); }},
    {"ShuffleFromOutside", By::kShim, "from a lane that the mask leaves out",
     [](const Arrays& a) { return ShuffleFromOutside(a.y); }},
    {"Trap", By::kShim, "trap", [](const Arrays& a) { return Trap(a.y); }},
};

class FaultsTest : public testing::TestWithParam<Fault> {};

void RunAndExit(const Fault& fault) {
  Arrays arrays;
  cudaMalloc(reinterpret_cast<void**>(&arrays.x), kBytes);
  cudaMalloc(reinterpret_cast<void**>(&arrays.y), kBytes);
  cudaMemset(arrays.x, 0, kBytes);
  cudaMemset(arrays.y, 0, kBytes);
  const cudaError_t error = fault.run(arrays);
  std::fprintf(stderr, "nothing was found, and the error is %s\n", cudaGetErrorName(error));
  std::exit(0);
}

TEST_P(FaultsTest, IsFound) {
  const Fault& fault = GetParam();
  if (fault.by == By::kAsan && !kAsan) GTEST_SKIP() << "AddressSanitizer finds it";
  if (fault.by == By::kTsan && !kTsan) GTEST_SKIP() << "ThreadSanitizer finds it";
  EXPECT_DEATH(RunAndExit(fault), fault.message);
}

INSTANTIATE_TEST_SUITE_P(All, FaultsTest, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

// Running the kernel would end the program.
TEST(RefusedLaunchTest, ReturnsAnError) {
  float* y = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&y), kBytes), cudaSuccess);
  ASSERT_EQ(cudaMemset(y, 0, kBytes), cudaSuccess);
  EXPECT_EQ(TooManyThreads(y), cudaErrorInvalidConfiguration);
  EXPECT_EQ(NoBlocks(y), cudaErrorInvalidConfiguration);
  EXPECT_EQ(TooMuchShared(y), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(y), cudaSuccess);
}

TEST(MessageTest, TellsWhere) {
  EXPECT_DEATH(
      {
        float* y = nullptr;
        cudaMalloc(reinterpret_cast<void**>(&y), kBytes);
        DividedBarrier(y);
      },
      "DividedBarrierKernel.*(.|\n)*block \\(0, 0, 0\\), thread \\(40, 0, 0\\), at .*faults.cu:");
}

}  // namespace
}  // namespace cooper::host_shim
