#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_H_

// Which rows of a batch of padded sequences are real at each time step, and where RNN's kernels
// keep what belongs to them: packed, without padding. Sequences are taken by falling length, so
// that the rows of a step are a prefix of the batch in that order, and step follows step:
//
//   lengths 2 3 1, order 1 0 2      step 0: rows 1 0 2     step 1: rows 1 0     step 2: row 1
//                                   packed 0 1 2           packed 3 4           packed 5
//
// So padding costs neither work nor rounding: products over all packed rows are of the same rows in
// the same order whatever the sequences were padded to.

#include <algorithm>
#include <cstdint>

#include "executor/program/kernel.h"

namespace cooper {

class RNNRows {
 public:
  // Without lengths: every row has all steps, and packed rows are those of (num_steps, batch).
  RNNRows(int64_t num_steps, int64_t batch) : num_steps_(num_steps), batch_(batch) {}
  // `lengths` (batch,) is of any dtype and kept within [0, num_steps]. Uses `scratch`, of
  // ScratchSize elements, as long as it lives.
  RNNRows(const ArrayView& lengths, int64_t num_steps, int64_t batch, int64_t* scratch);
  static int64_t ScratchSize(int64_t num_steps, int64_t batch) { return 2 * batch + num_steps + 1; }

  bool has_lengths() const { return begin_ != nullptr; }
  // Whether packed rows are those of (num_steps, batch), as they are without lengths.
  bool is_whole() const { return is_whole_; }
  int64_t num_steps() const { return num_steps_; }
  int64_t batch() const { return batch_; }
  int64_t total() const { return has_lengths() ? begin_[num_steps_] : num_steps_ * batch_; }
  // The steps that some row has: the greatest length.
  int64_t longest() const { return !has_lengths() ? num_steps_ : batch_ > 0 ? lengths_[0] : 0; }
  // Rows of step `t`.
  int64_t count(int64_t t) const { return has_lengths() ? begin_[t + 1] - begin_[t] : batch_; }
  // The first packed row of step `t`.
  int64_t begin(int64_t t) const { return has_lengths() ? begin_[t] : t * batch_; }
  // The row of the batch that is at `place` in the order by falling length.
  int64_t row(int64_t place) const { return has_lengths() ? order_[place] : place; }
  // Steps of the sequence at `place`.
  int64_t length(int64_t place) const { return has_lengths() ? lengths_[place] : num_steps_; }
  // Whether step `t` is the first one that the sequence at `place` takes in a direction.
  bool IsFirst(int direction, int64_t t, int64_t place) const {
    return direction == 0 ? t == 0 : t + 1 == num_steps_ || place >= count(t + 1);
  }
  // Places from which on each of `blocks` blocks has about equally many real steps: [block] is
  // where it begins.
  int64_t BlockBegin(int64_t block, int64_t blocks) const;

 private:
  int64_t num_steps_, batch_;
  bool is_whole_ = true;
  const int64_t* begin_ = nullptr;    // by step, and the end
  const int64_t* order_ = nullptr;    // by place
  const int64_t* lengths_ = nullptr;  // by place
};

// packed (total, columns) = the real rows of padded (num_steps, batch, columns).
template <typename T>
void PackRows(const RNNRows& rows, const T* padded, int64_t columns, T* packed);

// The real rows of padded (num_steps, batch, columns) = or += packed (total, columns); with kWrite
// the others become zero.
template <typename T>
void UnpackRows(const RNNRows& rows, WriteReq req, const T* packed, int64_t columns, T* padded);

// Zeroes the rows of padded (num_steps, batch, columns) that are not real.
template <typename T>
void ZeroPadding(const RNNRows& rows, int64_t columns, T* padded);

// sorted (batch, columns) = the rows of in (batch, columns) in the order of places.
template <typename T>
void SortRows(const RNNRows& rows, const T* in, int64_t columns, T* sorted);

// The rows of out (batch, columns) = or += sorted, in the order of places; nothing with kNull.
template <typename T>
void UnsortRows(const RNNRows& rows, WriteReq req, const T* sorted, int64_t columns, T* out);

// packed (total, columns) = of each real row what its sequence had in the step before, in that
// direction: a row of output (num_steps, batch, ...), whose rows are `stride` apart, or at its
// first step one of state (batch, columns).
template <typename T>
void PackPrevious(const RNNRows& rows, int direction, const T* state, const T* output,
                  int64_t stride, int64_t columns, T* packed);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_H_
