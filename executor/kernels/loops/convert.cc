#include "executor/kernels/loops/convert.h"

#include <algorithm>
#include <cstring>

#include "executor/kernels/loops/element_block.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

constexpr int64_t kGrain = 16384;

// Converts through C.
template <typename C>
void ConvertThrough(const ArrayView& input, const ArrayView& output, WriteReq req, int64_t begin,
                    int64_t end) {
  C block[kElementBlock];
  for (; begin < end; begin += kElementBlock) {
    const int64_t n = std::min(kElementBlock, end - begin);
    LoadBlock(ElementAt(input.data, input.dtype, begin), input.dtype, n, block);
    StoreBlock(block, n, req, ElementAt(output.data, output.dtype, begin), output.dtype);
  }
}

// Returns whether a conversion through double would round twice: an int64_t beyond 2^53 to double,
// then to float.
bool RoundsTwiceThroughDouble(DType from, DType to) {
  return from == DType::kInt64 && IsFloating(to) && to != DType::kFloat64;
}

}  // namespace

void ConvertArray(const ArrayView& input, const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull || output.size() == 0) return;
  const bool same = input.dtype == output.dtype;
  if (same && req == WriteReq::kWrite && input.data == output.data) return;
  ParallelForPlain(output.size(), kGrain, [&](int64_t begin, int64_t end) {
    if (same && req == WriteReq::kWrite) {
      std::memcpy(ElementAt(output.data, output.dtype, begin),
                  ElementAt(input.data, input.dtype, begin), (end - begin) * SizeOf(input.dtype));
    } else if (RoundsTwiceThroughDouble(input.dtype, output.dtype)) {
      ConvertThrough<float>(input, output, req, begin, end);
    } else if (IsFloating(input.dtype) || IsFloating(output.dtype)) {
      ConvertThrough<double>(input, output, req, begin, end);
    } else {
      ConvertThrough<int64_t>(input, output, req, begin, end);
    }
  });
}

void FillArray(double value, const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull || output.size() == 0) return;
  ParallelForPlain(output.size(), kGrain, [&](int64_t begin, int64_t end) {
    if (value == 0 && req == WriteReq::kWrite) {
      std::memset(ElementAt(output.data, output.dtype, begin), 0,
                  (end - begin) * SizeOf(output.dtype));
      return;
    }
    double block[kElementBlock];
    std::fill_n(block, std::min(kElementBlock, end - begin), value);
    for (; begin < end; begin += kElementBlock) {
      StoreBlock(block, std::min(kElementBlock, end - begin), req,
                 ElementAt(output.data, output.dtype, begin), output.dtype);
    }
  });
}

}  // namespace cooper
