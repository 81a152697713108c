#include "tests/cuda_emulator/ptx/race_log.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace cooper::ptx {

RaceLog::RaceLog(int threads) {
  const size_t warps = static_cast<size_t>((threads + kLanes - 1) / kLanes);
  warps_.resize(warps);
  partial_.assign(warps, 1);
  known_partial_.assign(warps, std::vector<uint32_t>(warps, 0));
}

void RaceLog::PartialBarrier(uint32_t warps) {
  // Joins what all of the warps know, including their own progress.
  std::vector<uint32_t> joined(warps_.size(), 0);
  for (uint32_t left = warps; left != 0; left &= left - 1) {
    const size_t warp = static_cast<size_t>(std::countr_zero(left));
    for (size_t i = 0; i < joined.size(); ++i) {
      joined[i] = std::max(joined[i], known_partial_[warp][i]);
    }
    joined[warp] = std::max(joined[warp], partial_[warp]);
  }
  for (uint32_t left = warps; left != 0; left &= left - 1) {
    const size_t warp = static_cast<size_t>(std::countr_zero(left));
    known_partial_[warp] = joined;
    ++partial_[warp];
    ++warps_[warp].epoch;  // its own lanes have synchronised too
  }
}

void RaceLog::WarpSync(int warp, uint32_t mask, bool whole) {
  WarpClocks& clocks = warps_[static_cast<size_t>(warp)];
  if (whole) {
    ++clocks.epoch;
    return;
  }
  std::array<uint32_t, kLanes> joined{};
  ForLanes(mask, [&](int lane) {
    const size_t l = static_cast<size_t>(lane);
    for (size_t i = 0; i < kLanes; ++i) joined[i] = std::max(joined[i], clocks.known[l][i]);
  });
  ForLanes(mask, [&](int lane) {
    uint32_t& clock = clocks.lane[static_cast<size_t>(lane)];
    joined[static_cast<size_t>(lane)] = ++clock;
  });
  ForLanes(mask, [&](int lane) { clocks.known[static_cast<size_t>(lane)] = joined; });
}

bool RaceLog::Ordered(const Stamp& before, int thread) const {
  if (before.epoch != epoch_ || before.thread == thread) return true;
  const size_t warp = static_cast<size_t>(thread / kLanes);
  const size_t other = static_cast<size_t>(before.thread / kLanes);
  if (warp != other) return before.partial <= known_partial_[warp][other];
  const WarpClocks& clocks = warps_[warp];
  if (before.warp_epoch < clocks.epoch) return true;
  return before.lane_clock < clocks.known[static_cast<size_t>(thread % kLanes)]
                                         [static_cast<size_t>(before.thread % kLanes)];
}

std::optional<Conflict> RaceLog::AccessCell(Cell& cell, const Stamp& now, bool write) const {
  const auto conflicts = [&](const Stamp& before) {
    return !(before.strong && now.strong) && !Ordered(before, now.thread);
  };
  if (conflicts(cell.writer)) return Conflict{cell.writer.thread, true, cell.writer.source};
  if (write) {
    for (const Stamp* reader : {&cell.reader, &cell.other_reader}) {
      if (conflicts(*reader)) return Conflict{reader->thread, false, reader->source};
    }
    // A strong write must not hide an earlier weak write of the same thread.
    if (!(now.strong && cell.writer.thread == now.thread && cell.writer.epoch == epoch_ &&
          !cell.writer.strong)) {
      cell.writer = now;
    }
  } else if (Ordered(cell.reader, now.thread)) {
    cell.reader = now;
  } else {
    cell.other_reader = now;
  }
  return std::nullopt;
}

std::optional<Conflict> RaceLog::Access(uint64_t address, int bytes, int thread, bool write,
                                        bool strong, int source) {
  const WarpClocks& clocks = warps_[static_cast<size_t>(thread / kLanes)];
  const Stamp now{epoch_,       partial_[static_cast<size_t>(thread / kLanes)],
                  clocks.epoch, clocks.lane[static_cast<size_t>(thread % kLanes)],
                  source,       static_cast<uint16_t>(thread),
                  strong};
  const uint64_t end = address + static_cast<uint64_t>(bytes);
  for (uint64_t word = address / 4 * 4; word < end; word += 4) {
    if (word / 64 != recent_key_) {
      std::unique_ptr<Page>& page = pages_[word / 64];
      if (page == nullptr) page = std::make_unique<Page>();
      recent_key_ = word / 64;
      recent_page_ = page.get();
    }
    Page& page = *recent_page_;
    const uint64_t index = word % 64 / 4;
    Cell* cells = &page.cells[index * 4];
    const bool all = word >= address && word + 4 <= end;
    const uint16_t bit = static_cast<uint16_t>(1u << index);
    if (all && (page.split & bit) == 0) {
      if (std::optional<Conflict> conflict = AccessCell(cells[0], now, write)) return conflict;
      continue;
    }
    if ((page.split & bit) == 0) {
      page.split |= bit;
      for (int i = 1; i < 4; ++i) cells[i] = cells[0];
    }
    for (uint64_t byte = std::max(word, address); byte < std::min(word + 4, end); ++byte) {
      std::optional<Conflict> conflict = AccessCell(cells[byte - word], now, write);
      if (conflict) return conflict;
    }
  }
  return std::nullopt;
}

}  // namespace cooper::ptx
