#ifndef COOPER_IO_STREAMS_SAMPLE_H_
#define COOPER_IO_STREAMS_SAMPLE_H_

// A sample on its way from a source (sample_source.h) into a stream: one array per field, such as
// the words of a sentence and its class.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Describes one field of all samples of a source.
struct SampleField {
  DType dtype = DType::kInt32;
  // The shape of one step: () for a word id, (40,) for a frame of 40 features.
  Shape step;
  // A sequence has any number of steps, and its array the shape (steps, step...). Any other field
  // is a single step, such as a class.
  bool is_sequence = true;
  // The element of a bucket's key that a sequence is padded to: 1 for the target of pairs (source,
  // target). Keys are integers if all sequences have 0.
  int pad_to = 0;

  // Returns the bytes of one step.
  int64_t step_bytes() const { return step.num_elements() * SizeOf(dtype); }
};

// The elements of one sample. Its buffers are reused from sample to sample. Not thread-safe. A
// source fills it and a stream reads it, on one thread at a time.
class Sample {
 public:
  // Removes the elements of all fields, and sets the number of fields.
  void Clear(size_t num_fields) {
    fields_.resize(num_fields);
    for (Field& field : fields_) field.bytes.clear();
  }

  // Replaces the elements of a field by a copy of `elements`, row-major: (steps, step...) for a
  // sequence. A stream refuses a sample whose elements do not fit the field's description.
  template <typename T>
  void Set(size_t field, absl::Span<const T> elements) {
    Field& own = fields_[field];
    own.dtype = DTypeOf<T>();
    own.bytes.resize(elements.size() * sizeof(T));
    if (!elements.empty()) std::memcpy(own.bytes.data(), elements.data(), own.bytes.size());
  }

  size_t num_fields() const { return fields_.size(); }
  DType dtype(size_t field) const { return fields_[field].dtype; }
  // Returns the elements of a field, valid until it changes.
  absl::Span<const char> bytes(size_t field) const { return fields_[field].bytes; }

 private:
  struct Field {
    DType dtype = DType::kInt32;
    std::vector<char> bytes;
  };
  std::vector<Field> fields_;
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_SAMPLE_H_
