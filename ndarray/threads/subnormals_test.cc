#include "ndarray/threads/subnormals.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>

#include "gtest/gtest.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Returns whether products of this thread keep subnormal results and operands.
bool KeepsSubnormals() {
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  volatile double normal = std::numeric_limits<double>::min();
  return smallest * 2.0f != 0 && normal * 0.5 != 0;
}

#ifdef __x86_64__
constexpr bool kCanFlush = true;
#else
constexpr bool kCanFlush = false;
#endif

TEST(SubnormalsTest, AreFlushedWithinAScopeAlone) {
  EXPECT_TRUE(KeepsSubnormals());
  {
    const auto flush = ScopedSubnormals::Flush();
    EXPECT_EQ(KeepsSubnormals(), !kCanFlush);
    {
      const auto unchanged = ScopedSubnormals::Flush(/*flush=*/false);
      EXPECT_EQ(KeepsSubnormals(), !kCanFlush);
      const ScopedSubnormals keep(0);
      EXPECT_TRUE(KeepsSubnormals());
    }
    EXPECT_EQ(KeepsSubnormals(), !kCanFlush);
  }
  EXPECT_TRUE(KeepsSubnormals());
  try {
    const auto flush = ScopedSubnormals::Flush();
    throw std::runtime_error("leaves the scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(KeepsSubnormals());
}

TEST(SubnormalsTest, AreKeptWhereAsked) {
  SetFlushSubnormals(false);
  {
    const auto flush = ScopedSubnormals::Flush();
    EXPECT_TRUE(KeepsSubnormals());
  }
  SetFlushSubnormals(true);
  const auto flush = ScopedSubnormals::Flush();
  EXPECT_EQ(KeepsSubnormals(), !kCanFlush);
}

// Runs a loop until another thread than the caller's has taken part. Returns how many of its pieces
// kept subnormals, or -1 if no other thread ever came.
int PiecesThatKeep(int64_t* pieces) {
  const std::thread::id caller = std::this_thread::get_id();
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::atomic<int> keep = 0;
    std::atomic<bool> others = false;
    *pieces = 4;
    ParallelForPlain(*pieces, 1, [&](int64_t begin, int64_t end) {
      if (std::this_thread::get_id() != caller) others = true;
      for (int64_t i = begin; i < end; ++i) keep += KeepsSubnormals() ? 1 : 0;
      for (int wait = 0; wait < 1000 && !others; ++wait) std::this_thread::yield();
    });
    if (others) return keep;
  }
  return -1;
}

TEST(SubnormalsTest, LoopsTreatThemAlikeOnAllThreads) {
  SetNumThreads(4);
  int64_t pieces = 0;
  int keep = PiecesThatKeep(&pieces);
  if (keep < 0) GTEST_SKIP() << "no other thread came";
  EXPECT_EQ(keep, pieces);
  {
    const auto flush = ScopedSubnormals::Flush();
    keep = PiecesThatKeep(&pieces);
    if (keep >= 0) {
      EXPECT_EQ(keep, kCanFlush ? 0 : pieces);
    }
  }
  // The workers have restored the setting that they had before the loop.
  keep = PiecesThatKeep(&pieces);
  if (keep >= 0) {
    EXPECT_EQ(keep, pieces);
  }
  SetNumThreads(0);
}

}  // namespace
}  // namespace cooper
