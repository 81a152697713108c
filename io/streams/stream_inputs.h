#ifndef COOPER_IO_STREAMS_STREAM_INPUTS_H_
#define COOPER_IO_STREAMS_STREAM_INPUTS_H_

// Describes which fields of a stream's samples become which inputs and labels of the network, and
// assembles padded batches.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/padded_copy.h"
#include "io/streams/sample.h"
#include "io/streams/sample_pool.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// One input or label. The members are those of BucketInput (io/buckets/bucket_iter.h), with a
// field of the samples instead of values.
struct StreamInput {
  std::string name;
  size_t field = 0;
  // Fills a sequence after its end, and rows without a sample.
  double pad_value = 0;
  DType dtype = DType::kFloat32;
  // A letter for each axis, with 'N' for the batch axis. If empty: "N", "T" for a sequence, and the
  // first of "CHWDE" for the axes of a step.
  std::string layout;
  // Drops this many leading steps and moves the others forward: 1 turns sentences into the words
  // to predict. Of samples that are split, the last step of a piece is followed by the first of the
  // next one.
  int64_t shift = 0;
  // If not empty, data has another array (batch_size,) of this name after all inputs: the number of
  // steps of each row, 0 in rows without a sample.
  std::string length_name;
};

// The inputs of the network, in the order of the batches' arrays.
struct StreamInputs {
  std::vector<StreamInput> data;
  std::vector<StreamInput> label;
};

// Options of NextWordInputs: the data are the words of a sentence, the labels the words that
// follow.
struct NextWordOptions {
  double invalid_label = -1;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
  DType dtype = DType::kFloat32;
  std::string layout = "NT";  // or "TN"
  std::string length_name;    // as in StreamInput
};
// Returns the inputs of a language model, as BucketSentenceIter has them: field 0 is the sentence,
// and the label of each word is the next one.
StreamInputs NextWordInputs(const NextWordOptions& options = {});

// Returns the key with these elements: an integer if there is one, else a tuple.
BucketKey KeyOf(absl::Span<const int64_t> elements);

// Describes and makes batches. Immutable.
class StreamBatcher {
 public:
  // kInvalidArgument, naming the input: without data, for empty or equal names, a field that the
  // samples lack, an impossible layout or shift, a pad_value that dtype cannot hold; and if no data
  // input is a sequence.
  static absl::StatusOr<StreamBatcher> Create(StreamInputs inputs,
                                              const std::vector<SampleField>& fields);

  // Return the descriptions of a bucket with these elements of its key, as all functions below; the
  // arrays of length_name come after the data.
  std::vector<DataDesc> DescribeData(absl::Span<const int64_t> bucket, int64_t batch_size) const;
  std::vector<DataDesc> DescribeLabel(absl::Span<const int64_t> bucket, int64_t batch_size) const;

  // Returns a batch of the given samples and, below them, batch_size - rows.size() rows of pad
  // values; its key is an integer if `bucket` has one element. `index` holds the number of a row's
  // shard times 2^40 plus that of the sample in the shard, and `lengths` the steps of the first
  // data input that is a sequence. kInvalidArgument if dtype cannot hold an integer of a sample;
  // kResourceExhausted if memory is short.
  absl::StatusOr<DataBatch> Make(const SamplePool& pool, absl::Span<const SamplePool::Handle> rows,
                                 absl::Span<const int64_t> bucket, int64_t batch_size) const;

  // Returns the elements of data of one row along the axis of the steps, which tokens_per_batch
  // counts: those of each data input that is a sequence.
  int64_t RowTokens(absl::Span<const int64_t> bucket) const;
  // Returns the same for one sample, without padding.
  int64_t TokensOf(const SamplePool& pool, SamplePool::Handle row) const;
  // Returns the pad value of an input or label; nullopt for other names.
  std::optional<double> PadValue(absl::string_view name) const;

 private:
  struct Input {
    StreamInput spec;
    SampleField field;
    int batch_axis = 0;
    bool checks_integers = false;  // dtype does not hold every integer of the field's dtype
  };

  StreamBatcher() = default;
  static absl::StatusOr<Input> Check(StreamInput spec, const std::vector<SampleField>& fields);
  static DataDesc Describe(const Input& input, absl::Span<const int64_t> bucket,
                           int64_t batch_size);
  static DataDesc DescribeLengths(const Input& input, int64_t batch_size);
  static absl::StatusOr<NDArray> MakeArray(const Input& input, const DataDesc& desc,
                                           const SamplePool& pool,
                                           absl::Span<const SamplePool::Handle> rows);
  static int64_t StepsOf(const Input& input, const SamplePool& pool, SamplePool::Handle row);

  std::vector<Input> inputs_;  // data, then label
  size_t num_data_ = 0;
  size_t lengths_of_ = 0;  // the first data input that is a sequence
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_STREAM_INPUTS_H_
