#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_TRANSACTIONS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_TRANSACTIONS_H_

// Counts the transactions of the memory system for one instruction of a warp.

#include <cstdint>
#include <vector>

namespace cooper::ptx {

// Returns the numbers of the distinct 32-byte sectors that the lanes of `mask` touch, with `bytes`
// each.
std::vector<uint64_t> SectorsOf(const uint64_t* addresses, uint32_t mask, int bytes);

// The passes of one instruction over shared memory.
struct Wavefronts {
  int count = 0;
  int least = 0;  // the minimum for this number of distinct words
};

// Counts passes over the 32 banks of shared memory, whose words have 4 bytes. A pass serves one
// word in each bank, which any number of lanes may read. Lanes with 8 bytes are served in halves of
// a warp, those with 16 in quarters.
Wavefronts CountWavefronts(const uint64_t* offsets, uint32_t mask, int bytes);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_TRANSACTIONS_H_
