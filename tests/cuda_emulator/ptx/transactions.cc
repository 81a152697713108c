#include "tests/cuda_emulator/ptx/transactions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/cuda_emulator/ptx/lanes.h"

namespace cooper::ptx {
namespace {

// Returns the distinct units of `unit` bytes that the lanes touch.
std::vector<uint64_t> Units(const uint64_t* addresses, uint32_t mask, int bytes, uint64_t unit) {
  std::vector<uint64_t> units;
  units.reserve(2 * kLanes);
  ForLanes(mask, [&](int lane) {
    const uint64_t last = (addresses[lane] + static_cast<uint64_t>(bytes) - 1) / unit;
    for (uint64_t u = addresses[lane] / unit; u <= last; ++u) {
      if (units.empty() || units.back() != u) units.push_back(u);
    }
  });
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

}  // namespace

std::vector<uint64_t> SectorsOf(const uint64_t* addresses, uint32_t mask, int bytes) {
  return Units(addresses, mask, bytes, 32);
}

Wavefronts CountWavefronts(const uint64_t* offsets, uint32_t mask, int bytes) {
  const int step = bytes <= 4 ? kLanes : std::max(1, kLanes * 4 / bytes);
  Wavefronts result;
  for (int first = 0; first < kLanes; first += step) {
    const uint32_t lanes = step == kLanes ? kAllLanes : ((1u << step) - 1) << first;
    if ((mask & lanes) == 0) continue;
    std::array<int, 32> banks{};
    const std::vector<uint64_t> words = Units(offsets, mask & lanes, bytes, 4);
    for (uint64_t word : words) ++banks[static_cast<size_t>(word % 32)];
    result.count += *std::max_element(banks.begin(), banks.end());
    result.least += static_cast<int>((words.size() + 31) / 32);
  }
  return result;
}

}  // namespace cooper::ptx
