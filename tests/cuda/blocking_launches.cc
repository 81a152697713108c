// Linked into a test: makes each launch wait for its kernel and return the kernel's error.

#include <cstdlib>

namespace cooper {
namespace {

[[maybe_unused]] const int kBlocks = setenv("CUDA_LAUNCH_BLOCKING", "1", /*overwrite=*/0);

}  // namespace
}  // namespace cooper
