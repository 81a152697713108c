// Linked into a test: the emulator's devices reach memory of the host that is not pinned, so that
// asynchronous copies read it in their turn, and what was overwritten or freed meanwhile shows in
// the results.

#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(PAGEABLE_ACCESS, "1");

}  // namespace
}  // namespace cooper
