#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_TRANSACTIONS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_TRANSACTIONS_H_

// How many transactions of the memory system one instruction of a warp takes.

#include <cstdint>
#include <vector>

namespace cooper::ptx {

// Distinct sectors of 32 bytes that the lanes of `mask` touch, `bytes` each, by their numbers.
std::vector<uint64_t> SectorsOf(const uint64_t* addresses, uint32_t mask, int bytes);

struct Wavefronts {
  int count = 0;
  int least = 0;  // that so many distinct words can do with
};

// Passes over the 32 banks of shared memory, whose words have 4 bytes: one serves each bank with
// one word, which any number of lanes may read. Lanes with 8 bytes go in halves of a warp, those
// with 16 in quarters.
Wavefronts CountWavefronts(const uint64_t* offsets, uint32_t mask, int bytes);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_TRANSACTIONS_H_
