#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_TEST_KERNEL_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_TEST_KERNEL_H_

// Runs small kernels in tests. A kernel `k` has two parameters, the addresses of an output and of
// an input, which its body finds in %d0 and %d1; %r0 is %tid.x. Registers: %p0-%p15 (pred),
// %h0-%h15 (b16), %r0-%r31 (b32), %f0-%f15 (f32), %d0-%d31 (b64), %g0-%g15 (f64).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/run.h"

namespace cooper::ptx {

// Returns a module with the kernel `k`, after `declarations`.
std::string KernelText(std::string_view body, std::string_view declarations = "");

// A kernel with its memory. Set the public members before Run() and read them after it.
class TestKernel {
 public:
  explicit TestKernel(std::string_view body, std::string_view declarations = "")
      : text_(KernelText(body, declarations)) {}

  Launch launch;
  Options options;
  Counters counters;
  std::vector<uint32_t> output = std::vector<uint32_t>(64, 0);
  std::vector<uint32_t> input;
  std::string printed;

  // Parses and runs the kernel. Its memory is `output`, `input` and the module's variables.
  absl::Status Run();

 private:
  std::string text_;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_TEST_KERNEL_H_
