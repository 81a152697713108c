// Tests that each bug is found and that the message says what and where it is. An error of a kernel
// is sticky, so each bug runs in its own process.

#include "tests/cuda_emulator/tests/bugs.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "cuda_runtime.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kChecked = [] {
  setenv("COOPER_CUDA_EMULATOR_RACE_CHECK", "1", 1);
  setenv("COOPER_CUDA_EMULATOR_UNSET_CHECK", "1", 1);
  setenv("COOPER_CUDA_EMULATOR_DEVICES", "2", 1);
  return true;
}();

constexpr size_t kBytes = 64 * sizeof(float);

struct Arrays {
  float* x = nullptr;
  float* y = nullptr;
  float host[64] = {};
};

struct Bug {
  const char* name;
  cudaError_t error;
  const char* message;  // regular expression for stderr
  std::function<cudaError_t(Arrays&)> run;
};

void PrintTo(const Bug& bug, std::ostream* stream) { *stream << bug.name; }

const Bug kBugs[] = {
    {"NoBarrier", cudaErrorLaunchFailure, "NoBarrierKernel",
     [](Arrays& a) { return NoBarrier(a.x, a.y); }},
    {"PastTheEnd", cudaErrorIllegalAddress, "0 bytes past the end of an allocation of 256 bytes",
     [](Arrays& a) { return PastTheEnd(a.x, a.y); }},
    {"HostMemory", cudaErrorIllegalAddress, "no memory of a device",
     [](Arrays& a) { return NotInRange(a.host, a.y); }},
    {"UseAfterFree", cudaErrorIllegalAddress, "of 256 bytes of device 0 that was freed",
     [](Arrays& a) {
       cudaFree(a.x);
       return NotInRange(a.x, a.y);
     }},
    {"OtherDevice", cudaErrorIllegalAddress, "of 256 bytes of device 1",
     [](Arrays& a) {
       cudaSetDevice(1);
       cudaMalloc(reinterpret_cast<void**>(&a.x), kBytes);
       cudaSetDevice(0);
       return NotInRange(a.x, a.y);
     }},
    {"DivergentBarrier", cudaErrorLaunchTimeout, "threads wait for others for ever",
     [](Arrays& a) { return DivergentBarrier(a.y); }},
    {"WrongMask", cudaErrorLaunchFailure, "mask", [](Arrays& a) { return WrongMask(a.y); }},
    {"UnsetShared", cudaErrorLaunchFailure, "UnsetSharedKernel",
     [](Arrays& a) { return UnsetShared(a.y); }},
    {"PastShared", cudaErrorIllegalAddress, "shared", [](Arrays& a) { return PastShared(a.y); }},
    {"Misaligned", cudaErrorMisalignedAddress, "align", [](Arrays& a) { return Misaligned(a.y); }},
    {"Trap", cudaErrorAssert, "TrapKernel", [](Arrays& a) { return Trap(a.y); }},
    {"TooManyThreads", cudaErrorInvalidConfiguration, "1024",
     [](Arrays& a) { return TooManyThreads(a.y); }},
    {"TooMuchShared", cudaErrorInvalidValue, "65536 bytes of shared memory, where 49152",
     [](Arrays& a) { return TooMuchShared(a.y); }},
    {"CopyInTheWrongDirection", cudaErrorInvalidValue, "memory of a device is expected",
     [](Arrays& a) { return cudaMemcpy(a.host, a.x, kBytes, cudaMemcpyHostToDevice); }},
    {"CopyOfTooMuch", cudaErrorInvalidValue, "260 bytes from byte 0 of an allocation of 256",
     [](Arrays& a) { return cudaMemcpy(a.host, a.x, kBytes + 4, cudaMemcpyDeviceToHost); }},
    {"FreedTwice", cudaErrorInvalidValue, "that was freed",
     [](Arrays& a) {
       cudaFree(a.x);
       return cudaFree(a.x);
     }},
    {"FreedInside", cudaErrorInvalidValue, "no allocation begins there",
     [](Arrays& a) { return cudaFree(a.x + 1); }},
    {"DestroyedStream", cudaErrorInvalidResourceHandle, "a destroyed one",
     [](Arrays&) {
       cudaStream_t stream = nullptr;
       cudaStreamCreate(&stream);
       cudaStreamDestroy(stream);
       return cudaStreamSynchronize(stream);
     }},
    {"StreamOfAnotherDevice", cudaErrorInvalidResourceHandle, "an event of device 1",
     [](Arrays&) {
       cudaEvent_t event = nullptr;
       cudaSetDevice(1);
       cudaEventCreate(&event);
       cudaSetDevice(0);
       return cudaEventRecord(event, nullptr);
     }},
    {"NoSuchDevice", cudaErrorInvalidDevice, "device 2, where there are 2",
     [](Arrays&) { return cudaSetDevice(2); }},
    {"NotSupported", cudaErrorNotSupported, "cudaDeviceReset is not supported",
     [](Arrays&) { return cudaDeviceReset(); }},
};

class BugsTest : public testing::TestWithParam<Bug> {};

// Runs the bug and exits with the error as exit status.
void RunAndExit(const Bug& bug) {
  Arrays arrays;
  cudaMalloc(reinterpret_cast<void**>(&arrays.x), kBytes);
  cudaMalloc(reinterpret_cast<void**>(&arrays.y), kBytes);
  cudaMemset(arrays.x, 0, kBytes);
  cudaMemset(arrays.y, 0, kBytes);
  const cudaError_t error = bug.run(arrays);
  if (error == bug.error) std::exit(0);
  std::fprintf(stderr, "the error is %s, expected %s\n", cudaGetErrorName(error),
               cudaGetErrorName(bug.error));
  std::exit(1);
}

TEST_P(BugsTest, IsFound) {
  EXPECT_EXIT(RunAndExit(GetParam()), testing::ExitedWithCode(0), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, BugsTest, testing::ValuesIn(kBugs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HostTest, MayNotTouchDeviceMemory) {
  float* x = nullptr;
  EXPECT_DEATH(
      {
        cudaMalloc(reinterpret_cast<void**>(&x), kBytes);
        std::printf("%f", x[0]);
      },
      "host code touches device memory");
}

}  // namespace
}  // namespace cooper
