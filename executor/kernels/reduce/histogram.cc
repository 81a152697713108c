// Kernel of _histogram for CPUs. It computes in double, on one thread.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/reduce/histogram_param.h"

namespace cooper {
namespace {

using enum HistogramArrays::Input;
using enum HistogramArrays::Output;

// The workspace has the bounds as double.
absl::StatusOr<Prepared> PrepareHistogram(const PrepareContext& c) {
  return Prepared{.workspace_bytes =
                      c.outputs[kBounds].size() * static_cast<int64_t>(sizeof(double))};
}

// Sets the bounds to those of equal bins, rounded to `dtype`.
void DivideRange(double low, double high, DType dtype, absl::Span<double> bounds) {
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const auto bins = static_cast<double>(bounds.size() - 1);
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto at = static_cast<double>(i);
    bounds[i] = RoundToDType<double>((high * at + (bins - at) * low) / bins, dtype);
  }
}

// Finds the bin of a number between the first and the last bound.
class BinFinder {
 public:
  // With `equal`, bins of about equal width, operator() computes a first guess and corrects it.
  BinFinder(absl::Span<const double> bounds, bool equal)
      : bounds_(bounds), last_(static_cast<int64_t>(bounds.size()) - 2) {
    const double scale = static_cast<double>(last_ + 1) / (bounds.back() - bounds.front());
    if (equal && std::isfinite(scale)) scale_ = scale;
  }

  // Returns the last bin that begins at x or below.
  int64_t operator()(double x) const {
    int64_t bin = 0;
    if (scale_ == 0) {
      bin = std::upper_bound(bounds_.begin(), bounds_.end(), x) - bounds_.begin() - 1;
      return std::clamp<int64_t>(bin, 0, last_);
    }
    bin = std::min(static_cast<int64_t>((x - bounds_.front()) * scale_), last_);
    while (bin > 0 && bounds_[bin] > x) --bin;
    while (bin < last_ && bounds_[bin + 1] <= x) ++bin;
    return bin;
  }

 private:
  const absl::Span<const double> bounds_;
  const int64_t last_;
  double scale_ = 0;  // bins per unit, or 0
};

absl::Status HistogramCpu(const KernelContext& c) {
  const ArrayView& data = c.inputs[kData];
  const ArrayView& out = c.outputs[kBounds];
  const absl::Span<double> bounds(static_cast<double*>(c.workspace), out.size());
  const auto& param = c.param<HistogramParam>();
  if (param.bin_cnt.has_value()) {
    DivideRange((*param.range)[0], (*param.range)[1], out.dtype, bounds);
  } else {
    LoadBlock(c.inputs[kBins].data, c.inputs[kBins].dtype, out.size(), bounds.data());
  }
  StoreBlock(bounds.data(), out.size(), c.reqs[kBounds], out.data, out.dtype);
  if (c.reqs[kCounts] == WriteReq::kNull) return absl::OkStatus();
  auto* const counts = c.outputs[kCounts].as<int64_t>();
  const int64_t bins = out.size() - 1;
  if (c.reqs[kCounts] == WriteReq::kWrite) std::fill_n(counts, bins, 0);
  const BinFinder bin_of(bounds, param.bin_cnt.has_value());
  double block[kElementBlock];
  for (int64_t begin = 0; begin < data.size(); begin += kElementBlock) {
    const int64_t n = std::min(kElementBlock, data.size() - begin);
    LoadBlock(ElementAt(data.data, data.dtype, begin), data.dtype, n, block);
    for (int64_t i = 0; i < n; ++i) {
      if (!(block[i] >= bounds.front() && block[i] <= bounds.back())) continue;
      ++counts[bin_of(block[i])];
    }
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_histogram, DeviceType::kCpu, kAnyDType, HistogramCpu, PrepareHistogram);

}  // namespace
}  // namespace cooper
