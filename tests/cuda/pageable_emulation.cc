// Linked into a test: makes the emulated devices read pageable host memory. Asynchronous copies
// then read it when they run, so that memory that was overwritten or freed in the meantime changes
// the results.

#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(PAGEABLE_ACCESS, "1");

}  // namespace
}  // namespace cooper
