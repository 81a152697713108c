#ifndef COOPER_IO_STREAMS_SAMPLE_POOL_H_
#define COOPER_IO_STREAMS_SAMPLE_POOL_H_

// The memory of the samples that a stream holds: one buffer, whose samples come and go in any
// order.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/streams/sample.h"
#include "io/streams/sample_reader.h"

namespace cooper {

// A sample, or with `piece` > 0 a later piece of a sample that was split.
struct SampleId {
  SamplePlace place;
  int64_t piece = 0;
};

// Samples are copied one behind the other. When the buffer is full, it is compacted if at least a
// quarter of it belongs to removed samples, and grows otherwise: it has at most about twice the
// bytes of the samples that it ever held together, and no sample is copied more than a few times.
// Not thread-safe.
class SamplePool {
 public:
  using Handle = int32_t;

  explicit SamplePool(std::vector<SampleField> fields);

  // Returns the number of elements of a bucket's key: one more than the largest pad_to.
  int key_rank() const { return key_rank_; }

  // Returns for each element of a key the steps of the longest sequence that is padded to it.
  // kInvalidArgument if the fields do not fit their descriptions.
  absl::StatusOr<BucketKey::Tuple> ExtentsOf(const Sample& sample) const;

  // Copies the steps of each sequence from `begin` on, as far as it has them and at most as many as
  // its element of `bucket`; with `and_next` one step more where the sequence goes on, since labels
  // may be the following steps. Copies other fields whole. The sample must have been accepted by
  // ExtentsOf.
  Handle Add(const Sample& sample, int64_t begin, absl::Span<const int64_t> bucket, bool and_next,
             const SampleId& id);
  // Remove frees a sample's handle, which a later Add may return again; its bytes are reused after
  // the next compaction. Clear removes all samples and keeps the buffer.
  void Remove(Handle handle);
  void Clear();

  // Return what is known of a sample: the steps of its longest sequence, as far as copied; its
  // identity; the steps of a field without and with the additional one; and the elements of a
  // field, valid until the next Add.
  int64_t length(Handle handle) const { return entries_[handle].length; }
  const SampleId& id(Handle handle) const { return entries_[handle].id; }
  int64_t steps(Handle handle, size_t field) const { return extents(handle)[2 * field]; }
  int64_t steps_and_next(Handle handle, size_t field) const {
    return extents(handle)[2 * field + 1];
  }
  const char* data(Handle handle, size_t field) const;

  const std::vector<SampleField>& fields() const { return fields_; }
  int64_t size() const { return num_live_; }
  // Returns the bytes of the samples that are held, with 16 bytes for each field of each.
  int64_t bytes() const { return live_bytes_; }
  // Returns the most bytes that a sample of a bucket has, with a following step of each sequence.
  int64_t MaxBytes(absl::Span<const int64_t> bucket) const;

 private:
  struct Entry {
    SampleId id;
    int64_t offset = 0;  // in buffer_: two extents for each field, then the fields' elements
    int64_t bytes = 0;   // a multiple of kAlignment
    int64_t length = 0;
    bool is_live = false;
  };

  const int64_t* extents(Handle handle) const {
    return reinterpret_cast<const int64_t*>(buffer_.data() + entries_[handle].offset);
  }
  int64_t FieldBytes(size_t field, int64_t steps) const;
  void MakeRoom(int64_t bytes);

  const std::vector<SampleField> fields_;
  int key_rank_ = 1;
  std::vector<char> buffer_;  // from operator new: aligned for every element
  int64_t used_ = 0;
  int64_t live_bytes_ = 0;
  int64_t num_live_ = 0;
  std::vector<Entry> entries_;    // by handle
  std::vector<Handle> in_order_;  // the entries in buffer_, by offset, removed ones among them
  std::vector<Handle> free_;      // handles that are in no use
  std::vector<int64_t> extents_;  // of the sample that is being added
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_SAMPLE_POOL_H_
