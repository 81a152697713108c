#ifndef COOPER_SYMBOL_SCHEMA_STOPWATCH_H_
#define COOPER_SYMBOL_SCHEMA_STOPWATCH_H_

// For tests of what has to take time in proportion to a graph.

#include <ctime>

#include "gtest/gtest.h"

namespace cooper {

// Fails the test that it lives in if that takes 15 seconds of the processor, which others may want
// too: ten times what is linear takes with sizes whose squares are out of reach. ThreadSanitizer
// makes programs ten times slower.
class Stopwatch {
 public:
  ~Stopwatch() {
    EXPECT_LT(static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC, kMostSeconds);
  }

 private:
#if defined(__SANITIZE_THREAD__)
  static constexpr double kMostSeconds = 150;
#else
  static constexpr double kMostSeconds = 15;
#endif

  const std::clock_t begin_ = std::clock();
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_STOPWATCH_H_
