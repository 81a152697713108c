// Linked into a test: makes the emulator run work only when something waits for it, so that a
// missing wait between queues or devices changes the results.

#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(LAZY, "1");

}  // namespace
}  // namespace cooper
