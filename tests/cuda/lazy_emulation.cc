// Linked into a test: the emulator runs work only when something waits for it, so that a wait that
// the host code lacks between queues or devices shows in the results.

#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(LAZY, "1");

}  // namespace
}  // namespace cooper
