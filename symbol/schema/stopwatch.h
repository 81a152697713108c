#ifndef COOPER_SYMBOL_SCHEMA_STOPWATCH_H_
#define COOPER_SYMBOL_SCHEMA_STOPWATCH_H_

// Limits the CPU time of tests of algorithms that must be linear in the size of a graph.

#include <ctime>

#include "gtest/gtest.h"

namespace cooper {

// Fails the enclosing test if it takes more than 15 s of CPU time: ten times the time of a linear
// algorithm at sizes for which a quadratic one takes far longer. ThreadSanitizer slows programs
// down by a factor of ten. CPU time does not depend on other load. It measures from its
// construction to the end of its scope, for all threads of the process together.
class Stopwatch {
 public:
  ~Stopwatch() {
    EXPECT_LT(static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC, kMaxSeconds);
  }

 private:
#if defined(__SANITIZE_THREAD__)
  static constexpr double kMaxSeconds = 150;
#else
  static constexpr double kMaxSeconds = 15;
#endif

  const std::clock_t begin_ = std::clock();
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_STOPWATCH_H_
