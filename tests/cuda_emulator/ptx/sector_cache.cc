#include "tests/cuda_emulator/ptx/sector_cache.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cooper::ptx {

SectorCache::SectorCache(int64_t bytes)
    : sets_(static_cast<size_t>(
          std::max<int64_t>(bytes / (kWays * kSectors * static_cast<int64_t>(kSectorBytes)), 1))) {}

void SectorCache::WriteBack(Line& line) {
  written_sectors_ += std::popcount(line.dirty);
  line.dirty = 0;
}

void SectorCache::Use(uint64_t sector, bool write, bool streams) {
  const uint64_t number = sector / kSectors;
  const auto bit = static_cast<uint8_t>(1u << sector % kSectors);
  // Hashes the line number, so that neighbouring lines and lines at large powers of 2 are in
  // unrelated sets.
  const uint64_t mixed = (number ^ number >> 17) * 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  Set& set = sets_[static_cast<size_t>((mixed >> 32) % sets_.size())];
  Line* line = &set[0];
  for (Line& other : set) {
    if (other.present != 0 && other.number == number) {
      line = &other;
      break;
    }
    if (other.used < line->used) line = &other;
  }
  const bool is_new = line->present == 0 || line->number != number;
  if (is_new) {
    WriteBack(*line);
    *line = {.number = number};
  }
  if (!streams) {
    line->used = now_++;
  } else if (is_new) {
    line->used = kStreamed;
  }
  if (write) {
    line->dirty |= bit;
  } else if ((line->present & bit) == 0) {
    ++read_sectors_;
  }
  line->present |= bit;
}

void SectorCache::UseRange(const void* data, int64_t bytes, bool write) {
  if (bytes <= 0) return;
  const auto begin = reinterpret_cast<uint64_t>(data);
  const uint64_t last = (begin + static_cast<uint64_t>(bytes) - 1) / kSectorBytes;
  for (uint64_t sector = begin / kSectorBytes; sector <= last; ++sector) {
    Use(sector, write, /*streams=*/false);
  }
}

void SectorCache::Flush() {
  for (Set& set : sets_) {
    for (Line& line : set) WriteBack(line);
  }
}

}  // namespace cooper::ptx
