#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_SECTOR_CACHE_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_SECTOR_CACHE_H_

// A model of a GPU's L2 cache: counts the 32-byte sectors that are read from and written to memory.
// Lines have four sectors with a valid bit each. Sets have 16 lines with LRU replacement. A written
// sector is written back when its line is evicted. Writes do not read: a sector that is partly
// written counts as valid.
//
// NVIDIA does not publish its replacement policy. Data larger than the cache that is used
// repeatedly in one order never hits in this model, although a GPU may keep a part of it; and the
// model has one partition, equally near to every block.

#include <array>
#include <cstdint>
#include <vector>

namespace cooper::ptx {

inline constexpr uint64_t kSectorBytes = 32;

// A set-associative cache. Not thread-safe.
class SectorCache {
 public:
  // Makes an empty cache of `bytes`, rounded down to whole sets.
  explicit SectorCache(int64_t bytes);

  // Accesses a sector by its number: its address divided by kSectorBytes. `streams` marks data that
  // is not used again soon, as .cs of ld and st does: a line allocated for it is evicted next. It
  // does not affect a line that is already present.
  void Read(uint64_t sector, bool streams = false) { Use(sector, /*write=*/false, streams); }
  void Write(uint64_t sector, bool streams = false) { Use(sector, /*write=*/true, streams); }
  // Access all sectors that the range touches.
  void ReadRange(const void* data, int64_t bytes) { UseRange(data, bytes, /*write=*/false); }
  void WriteRange(const void* data, int64_t bytes) { UseRange(data, bytes, /*write=*/true); }

  // Writes back all dirty sectors. They stay valid.
  void Flush();

  // Return the sectors moved between cache and memory since construction.
  int64_t read_sectors() const { return read_sectors_; }
  int64_t written_sectors() const { return written_sectors_; }

 private:
  static constexpr int kWays = 16, kSectors = 4;
  // Replaces the time of last use for a line that was streamed. Free lines have 0.
  static constexpr uint64_t kStreamed = 1;
  // Each bit is a sector. A line without valid sectors is free.
  struct Line {
    uint64_t number = 0;
    uint64_t used = 0;  // the time of its last use
    uint8_t present = 0;
    uint8_t dirty = 0;
  };
  using Set = std::array<Line, kWays>;

  void Use(uint64_t sector, bool write, bool streams);
  void UseRange(const void* data, int64_t bytes, bool write);
  void WriteBack(Line& line);

  std::vector<Set> sets_;
  uint64_t now_ = kStreamed + 1;
  int64_t read_sectors_ = 0;
  int64_t written_sectors_ = 0;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_SECTOR_CACHE_H_
