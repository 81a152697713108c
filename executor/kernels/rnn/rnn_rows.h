#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_H_

// Determines which rows of a batch of padded sequences are real at each time step, and where RNN's
// kernels store them: packed, without padding. Sequences are sorted by decreasing length, so that
// the rows of a step are a prefix of the sorted batch, and steps are stored one after another:
//
//   lengths 2 3 1, order 1 0 2      step 0: rows 1 0 2     step 1: rows 1 0     step 2: row 1
//                                   packed 0 1 2           packed 3 4           packed 5
//
// So padding costs neither work nor precision: products over all packed rows have the same rows in
// the same order, however much the sequences were padded.

#include <algorithm>
#include <cstdint>

#include "executor/program/kernel.h"

namespace cooper {

// The real rows of a batch. Immutable after construction, so thread-safe.
class RNNRows {
 public:
  // Without lengths every row has all steps, and packed rows are those of (num_steps, batch). It
  // uses no scratch memory.
  RNNRows(int64_t num_steps, int64_t batch) : num_steps_(num_steps), batch_(batch) {}
  // `lengths` (batch,) has any dtype; its values are clamped to [0, num_steps]. `scratch` has
  // ScratchSize elements and must outlive this object. Equal lengths keep their order in the batch.
  RNNRows(const ArrayView& lengths, int64_t num_steps, int64_t batch, int64_t* scratch);
  // Returns the int64_t elements that the constructor with lengths needs.
  static int64_t ScratchSize(int64_t num_steps, int64_t batch) { return 2 * batch + num_steps + 1; }

  // Returns whether the object was made with lengths.
  bool has_lengths() const { return begin_ != nullptr; }
  // Returns whether packed rows equal those of (num_steps, batch), as they do without lengths.
  bool is_whole() const { return is_whole_; }
  // Return the extents with which the object was made.
  int64_t num_steps() const { return num_steps_; }
  int64_t batch() const { return batch_; }
  // Returns the number of real rows of all steps.
  int64_t total() const { return has_lengths() ? begin_[num_steps_] : num_steps_ * batch_; }
  // Returns the number of steps of the longest sequence.
  int64_t longest() const { return !has_lengths() ? num_steps_ : batch_ > 0 ? lengths_[0] : 0; }
  // Returns the number of rows of step `t`. `t` is in [0, num_steps). The count does not increase
  // with t.
  int64_t count(int64_t t) const { return has_lengths() ? begin_[t + 1] - begin_[t] : batch_; }
  // Returns the first packed row of step `t`.
  int64_t begin(int64_t t) const { return has_lengths() ? begin_[t] : t * batch_; }
  // Returns the row of the batch at `place` in the order of decreasing length. `place` is in [0,
  // batch).
  int64_t row(int64_t place) const { return has_lengths() ? order_[place] : place; }
  // Returns the number of steps of the sequence at `place`.
  int64_t length(int64_t place) const { return has_lengths() ? lengths_[place] : num_steps_; }
  // Returns whether step `t` is the first one of the sequence at `place` in a direction. In
  // direction 1 it is the sequence's last real step.
  bool IsFirst(int direction, int64_t t, int64_t place) const {
    return direction == 0 ? t == 0 : t + 1 == num_steps_ || place >= count(t + 1);
  }
  // Returns the first place of a block, when the places are split into `blocks` blocks with about
  // the same number of real steps. `block` is in [0, blocks]; BlockBegin(blocks, blocks) is the
  // batch.
  int64_t BlockBegin(int64_t block, int64_t blocks) const;

 private:
  int64_t num_steps_, batch_;
  // Whether all sequences have all steps.
  bool is_whole_ = true;
  const int64_t* begin_ = nullptr;    // by step, and the end
  const int64_t* order_ = nullptr;    // by place
  const int64_t* lengths_ = nullptr;  // by place
};

// Copies the real rows of padded (num_steps, batch, columns) to packed (total, columns). T is float
// or double in this file. Runs on several threads.
template <typename T>
void PackRows(const RNNRows& rows, const T* padded, int64_t columns, T* packed);

// Writes or adds packed (total, columns) to the real rows of padded (num_steps, batch, columns).
// With kWrite zeroes the other rows. Does nothing with kNull.
template <typename T>
void UnpackRows(const RNNRows& rows, WriteReq req, const T* packed, int64_t columns, T* padded);

// Zeroes the rows of padded (num_steps, batch, columns) that are not real.
template <typename T>
void ZeroPadding(const RNNRows& rows, int64_t columns, T* padded);

// Copies the rows of in (batch, columns) to sorted (batch, columns), in the order of places. Row i
// of `sorted` is row rows.row(i) of `in`.
template <typename T>
void SortRows(const RNNRows& rows, const T* in, int64_t columns, T* sorted);

// Writes or adds sorted, in the order of places, to the rows of out (batch, columns). Does nothing
// with kNull.
template <typename T>
void UnsortRows(const RNNRows& rows, WriteReq req, const T* sorted, int64_t columns, T* out);

// Copies to packed (total, columns), for each real row, its sequence's previous row in that
// direction: a row of output (num_steps, batch, ...), whose rows are `stride` apart, or for the
// first step a row of state (batch, columns). The result is the left factor of the h2h weight's
// gradient.
template <typename T>
void PackPrevious(const RNNRows& rows, int direction, const T* state, const T* output,
                  int64_t stride, int64_t columns, T* packed);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_H_
