#include "ndarray/base/default_seed.h"

#include <atomic>

namespace cooper {
namespace {

std::atomic<uint64_t> default_seed = 0;
std::atomic<uint64_t> next_stream = 0;

}  // namespace

void SetDefaultSeed(uint64_t seed) {
  default_seed = seed;
  next_stream = 0;
}

uint64_t DefaultSeed() { return default_seed; }

uint64_t NextDefaultStream() { return next_stream++; }

}  // namespace cooper
