#include "module/kvstore/gradient_compression.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

constexpr int64_t kPerWord = 16;
// Fewest words per thread.
constexpr int64_t kGrain = 1024;
constexpr uint32_t kPlus = 1;
constexpr uint32_t kMinus = 2;

}  // namespace

absl::StatusOr<GradientCompression> GradientCompression::FromParams(const Kwargs& params) {
  GradientCompression compression;
  const auto type = params.find("type");
  if (type == params.end() || type->second != "2bit") {
    return absl::InvalidArgumentError(absl::StrCat(
        "compression_params: type is ",
        type == params.end() ? "missing" : "'" + type->second.text() + "'", ", expected '2bit'"));
  }
  for (const auto& [key, value] : params) {
    if (key == "type") continue;
    if (key != "threshold") {
      return absl::InvalidArgumentError(
          absl::StrCat("compression_params: unknown key '", key, "', expected type and threshold"));
    }
    if (!absl::SimpleAtof(value.text(), &compression.threshold) ||
        !std::isfinite(compression.threshold) || compression.threshold <= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "compression_params: threshold is '", value.text(), "', expected a positive number"));
    }
  }
  return compression;
}

void GradientCompression::Compress(absl::Span<const float> gradient, absl::Span<float> residual,
                                   absl::Span<uint32_t> words) const {
  const int64_t n = static_cast<int64_t>(gradient.size());
  ParallelFor(NumWords(n), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      uint32_t word = 0;
      const int64_t first = w * kPerWord;
      const int64_t count = std::min(kPerWord, n - first);
      for (int64_t i = 0; i < count; ++i) {
        const float r = residual[first + i] + gradient[first + i];
        const uint32_t code = r >= threshold ? kPlus : r <= -threshold ? kMinus : 0;
        residual[first + i] = code == kPlus ? r - threshold : code == kMinus ? r + threshold : r;
        word |= code << (2 * i);
      }
      words[w] = word;
    }
  });
}

void GradientCompression::AddTo(absl::Span<const uint32_t> words, absl::Span<float> sum) const {
  const int64_t n = static_cast<int64_t>(sum.size());
  ParallelFor(NumWords(n), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      const uint32_t word = words[w];
      const int64_t first = w * kPerWord;
      const int64_t count = std::min(kPerWord, n - first);
      for (int64_t i = 0; i < count; ++i) {
        const uint32_t code = (word >> (2 * i)) & 3;
        sum[first + i] += code == kPlus ? threshold : code == kMinus ? -threshold : 0.0f;
      }
    }
  });
}

}  // namespace cooper
