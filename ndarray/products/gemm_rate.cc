#include "ndarray/products/gemm_rate.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "ndarray/products/gemm.h"

namespace cooper {

double GemmRate(int64_t size) {
  using Clock = std::chrono::steady_clock;
  constexpr int kProducts = 6;
  constexpr double kMaxSeconds = 0.5;  // an unoptimised build needs longer for one product
  const std::vector<float> a(size * size, 0.01f);
  const std::vector<float> b(size * size, 0.01f);
  std::vector<float> c(size * size);
  const double flops = 2.0 * static_cast<double>(size * size * size);
  double most = 0;
  double elapsed = 0;
  for (int i = 0; i < kProducts && elapsed < kMaxSeconds; ++i) {
    const auto start = Clock::now();
    Gemm(false, true, size, size, size, 1.0f, a.data(), size, b.data(), size, 0.0f, c.data(), size);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (seconds > 0) most = std::max(most, flops / seconds);
    elapsed += seconds;
  }
  return most;
}

}  // namespace cooper
