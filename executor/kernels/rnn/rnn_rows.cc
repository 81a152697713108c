#include "executor/kernels/rnn/rnn_rows.h"

#include <algorithm>
#include <utility>

#include "executor/kernels/launch/row_grain.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

template <typename T>
void StoreRow(WriteReq req, const T* in, int64_t columns, T* out) {
  if (req == WriteReq::kWrite) {
    std::copy_n(in, columns, out);
  } else {
    for (int64_t j = 0; j < columns; ++j) out[j] += in[j];
  }
}

}  // namespace

RNNRows::RNNRows(const ArrayView& lengths, int64_t num_steps, int64_t batch, int64_t* scratch)
    : num_steps_(num_steps), batch_(batch) {
  int64_t* begin = scratch;
  int64_t* order = begin + num_steps + 1;
  int64_t* sorted = order + batch;
  const auto length_of = [&](int64_t i) {
    return DispatchDType(lengths.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      return std::clamp<int64_t>(ConvertElement<int64_t>(lengths.as<T>()[i]), 0, num_steps);
    });
  };
  // begin[n] becomes the number of sequences longer than n: the first place with n steps.
  std::fill_n(begin, num_steps + 1, int64_t{0});
  for (int64_t i = 0; i < batch; ++i) ++begin[length_of(i)];
  int64_t longer = 0;
  for (int64_t n = num_steps; n >= 0; --n) longer += std::exchange(begin[n], longer);
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t length = length_of(i);
    const int64_t place = begin[length]++;
    order[place] = i;
    sorted[place] = length;
  }
  // Step t has the sequences that are longer than t.
  int64_t rows = 0, count = batch;
  for (int64_t t = 0; t <= num_steps; ++t) {
    while (count > 0 && sorted[count - 1] <= t) --count;
    begin[t] = rows;
    rows += count;
  }
  begin_ = begin;
  order_ = order;
  lengths_ = sorted;
  // The batch keeps its order if all lengths are equal.
  is_whole_ = total() == num_steps * batch;
}

int64_t RNNRows::BlockBegin(int64_t block, int64_t blocks) const {
  if (!has_lengths() || block == 0 || block == blocks) return batch_ * block / blocks;
  int64_t place = 0;
  for (int64_t steps = 0; place < batch_ && steps * blocks < total() * block; ++place) {
    steps += lengths_[place];
  }
  return place;
}

template <typename T>
void PackRows(const RNNRows& rows, const T* padded, int64_t columns, T* packed) {
  ParallelFor(rows.num_steps(), RowGrain(columns * rows.batch()), [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; ++t) {
      for (int64_t place = 0; place < rows.count(t); ++place) {
        std::copy_n(padded + (t * rows.batch() + rows.row(place)) * columns, columns,
                    packed + (rows.begin(t) + place) * columns);
      }
    }
  });
}

template <typename T>
void UnpackRows(const RNNRows& rows, WriteReq req, const T* packed, int64_t columns, T* padded) {
  if (req == WriteReq::kNull) return;
  ParallelFor(rows.num_steps(), RowGrain(columns * rows.batch()), [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; ++t) {
      for (int64_t place = 0; place < rows.batch(); ++place) {
        T* out = padded + (t * rows.batch() + rows.row(place)) * columns;
        if (place < rows.count(t)) {
          StoreRow(req, packed + (rows.begin(t) + place) * columns, columns, out);
        } else if (req == WriteReq::kWrite) {
          std::fill_n(out, columns, T{0});
        }
      }
    }
  });
}

template <typename T>
void ZeroPadding(const RNNRows& rows, int64_t columns, T* padded) {
  for (int64_t t = 0; t < rows.num_steps(); ++t) {
    for (int64_t place = rows.count(t); place < rows.batch(); ++place) {
      std::fill_n(padded + (t * rows.batch() + rows.row(place)) * columns, columns, T{0});
    }
  }
}

template <typename T>
void SortRows(const RNNRows& rows, const T* in, int64_t columns, T* sorted) {
  for (int64_t place = 0; place < rows.batch(); ++place) {
    std::copy_n(in + rows.row(place) * columns, columns, sorted + place * columns);
  }
}

template <typename T>
void UnsortRows(const RNNRows& rows, WriteReq req, const T* sorted, int64_t columns, T* out) {
  if (req == WriteReq::kNull) return;
  for (int64_t place = 0; place < rows.batch(); ++place) {
    StoreRow(req, sorted + place * columns, columns, out + rows.row(place) * columns);
  }
}

template <typename T>
void PackPrevious(const RNNRows& rows, int direction, const T* state, const T* output,
                  int64_t stride, int64_t columns, T* packed) {
  const int64_t before = direction == 0 ? -1 : 1;
  for (int64_t t = 0; t < rows.num_steps(); ++t) {
    for (int64_t place = 0; place < rows.count(t); ++place) {
      const int64_t i = rows.row(place);
      const T* from = rows.IsFirst(direction, t, place)
                          ? state + i * columns
                          : output + ((t + before) * rows.batch() + i) * stride;
      std::copy_n(from, columns, packed + (rows.begin(t) + place) * columns);
    }
  }
}

#define COOPER_INSTANTIATE_ROWS(T)                                           \
  template void PackRows(const RNNRows&, const T*, int64_t, T*);             \
  template void UnpackRows(const RNNRows&, WriteReq, const T*, int64_t, T*); \
  template void ZeroPadding(const RNNRows&, int64_t, T*);                    \
  template void SortRows(const RNNRows&, const T*, int64_t, T*);             \
  template void UnsortRows(const RNNRows&, WriteReq, const T*, int64_t, T*); \
  template void PackPrevious(const RNNRows&, int, const T*, const T*, int64_t, int64_t, T*)

COOPER_INSTANTIATE_ROWS(float);
COOPER_INSTANTIATE_ROWS(double);

}  // namespace cooper
