#ifndef COOPER_IO_BATCH_RAGGED_ARRAY_H_
#define COOPER_IO_BATCH_RAGGED_ARRAY_H_

// Holds one array per sample of a data set, all of one dtype and rank, whose extents may differ: a
// sequence (length,), frames (length, features), an image (channels, height, width), a number (). A
// cheap handle: copies share the elements.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Immutable; thread-safe. Errors of construction are kept in status(), so that a RaggedArray can be
// made implicitly in the argument list of an iterator's Create, which returns them.
class RaggedArray {
 public:
  // Holds no samples.
  RaggedArray() = default;

  // Copies a sequence (length,) per sample.
  template <typename T>
  RaggedArray(const std::vector<std::vector<T>>& sequences)  // NOLINT: what is fed is its values
      : RaggedArray(Sequences(absl::MakeConstSpan(sequences))) {}
  // Copies the sequences one behind the other into one buffer: 8 bytes for each sequence besides
  // its elements. T is the C++ type of a dtype.
  template <typename T>
  static RaggedArray Sequences(absl::Span<const std::vector<T>> sequences);

  // Copies a number () per sample.
  template <typename T>
  RaggedArray(const std::vector<T>& numbers);  // NOLINT

  // Array i, or row i of the first axis of `rows`, is sample i. The elements are not copied, and
  // must not be written to while the RaggedArray, or an iterator that holds it, is in use.
  RaggedArray(std::vector<NDArray> arrays);  // NOLINT
  RaggedArray(NDArray rows);                 // NOLINT

  // Returns kInvalidArgument, naming the sample, if an array is null or not on the CPU, or if
  // arrays differ in dtype or rank. Other functions may be called only if the status is OK.
  const absl::Status& status() const { return status_; }

  int64_t size() const;  // number of samples
  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }  // of a sample; 0 without samples
  // Returns whether the samples are the rows of one array and so have the same extents.
  bool is_rows() const { return std::holds_alternative<Rows>(*samples_); }

  // Return the shape, an extent and the elements of sample `i`, which are contiguous and row-major.
  Shape shape(int64_t i) const;
  int64_t extent(int64_t i, int axis) const {
    const auto* flat = std::get_if<Flat>(samples_.get());
    return flat != nullptr ? flat->offsets[i + 1] - flat->offsets[i] : shape(i)[axis];
  }
  // Returns the elements of sample `i`, valid as long as any copy of this object.
  const void* data(int64_t i) const;

 private:
  // The elements of all sequences of copied vectors, in one buffer.
  struct Flat {
    std::vector<char> bytes;
    std::vector<int64_t> offsets;  // sequence i is elements [offsets[i], offsets[i + 1])
  };
  // An array of rank 1 or more, whose rows along the first axis are the samples.
  struct Rows {
    NDArray array;
  };
  using Samples = std::variant<Flat, std::vector<NDArray>, Rows>;

  absl::Status status_;
  DType dtype_ = DType::kFloat32;
  int rank_ = 0;
  std::shared_ptr<const Samples> samples_ = NoSamples();

  static std::shared_ptr<const Samples> NoSamples();
};

template <typename T>
RaggedArray RaggedArray::Sequences(absl::Span<const std::vector<T>> sequences) {
  Flat flat;
  flat.offsets.reserve(sequences.size() + 1);
  flat.offsets.push_back(0);
  for (const std::vector<T>& sequence : sequences) {
    flat.offsets.push_back(flat.offsets.back() + static_cast<int64_t>(sequence.size()));
  }
  flat.bytes.reserve(static_cast<size_t>(flat.offsets.back()) * sizeof(T));
  for (const std::vector<T>& sequence : sequences) {
    const char* begin = reinterpret_cast<const char*>(sequence.data());
    flat.bytes.insert(flat.bytes.end(), begin, begin + sequence.size() * sizeof(T));
  }
  RaggedArray array;
  array.dtype_ = DTypeOf<T>();
  array.rank_ = 1;
  array.samples_ = std::make_shared<const Samples>(std::move(flat));
  return array;
}

template <typename T>
RaggedArray::RaggedArray(const std::vector<T>& numbers) {
  auto rows = NDArray::FromVector({static_cast<int64_t>(numbers.size())}, numbers);
  if (rows.ok()) {
    *this = RaggedArray(*std::move(rows));
  } else {
    status_ = rows.status();
  }
}

}  // namespace cooper

#endif  // COOPER_IO_BATCH_RAGGED_ARRAY_H_
