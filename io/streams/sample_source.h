#ifndef COOPER_IO_STREAMS_SAMPLE_SOURCE_H_
#define COOPER_IO_STREAMS_SAMPLE_SOURCE_H_

// The interface of sources, which read the samples of a stream (bucket_stream.h) from shards: files
// or other parts that are read from their start to their end. TextSource (text_source.h) reads
// texts, FunctionSource calls a function.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "io/streams/sample.h"

namespace cooper {

// Reads the samples of one shard in order, the same samples each time the shard is opened. One
// thread at a time may use it.
class ShardReader {
 public:
  virtual ~ShardReader() = default;

  // Replaces `sample` by the next one. Returns false at the end of the shard. An error names the
  // shard and the place in it; the reader is not used after it.
  virtual absl::StatusOr<bool> Next(Sample* sample) = 0;

  // Returns a number from which SeekTo continues with the sample that Next would read now.
  virtual int64_t Position() const { return 0; }
  // Moves to a position of this shard, forward or back. kUnimplemented, the default, for a reader
  // that cannot: a stream then reads the shard again from its start, which takes as long as reading
  // the samples before the position.
  virtual absl::Status SeekTo(int64_t /*position*/) {
    return absl::UnimplementedError("the reader has no positions");
  }
};

// Opens shards. The functions are thread-safe. Its shards do not change while a stream reads them:
// a stream opens a shard again to restore a state.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Returns the fields of every sample; at least one is a sequence.
  virtual const std::vector<SampleField>& fields() const = 0;
  virtual int64_t num_shards() const = 0;
  // Returns a shard's name for messages, such as the path of its file.
  virtual std::string shard_name(int64_t shard) const { return absl::StrCat("shard ", shard); }
  // Opens shard `shard`, in [0, num_shards()), at its start. The reader must not outlive the
  // source.
  virtual absl::StatusOr<std::unique_ptr<ShardReader>> Open(int64_t shard) const = 0;
  // Returns how long readers of this source have decoded samples, a part of the time within their
  // Next; 0 if the source does not tell it from reading.
  virtual double decode_seconds() const { return 0; }
};

// A source whose samples come from a function. The samples of a shard must end: a stream reads a
// shard to its end in each epoch.
class FunctionSource : public SampleSource {
 public:
  // Sets `sample`, which is empty, to sample `index` of shard `shard`, both from 0. Returns false
  // if the shard has only `index` samples. Must give the same sample in each call with the same
  // numbers, and may be called from several threads.
  using Read = std::function<absl::StatusOr<bool>(int64_t shard, int64_t index, Sample* sample)>;

  FunctionSource(std::vector<SampleField> fields, int64_t num_shards, Read read)
      : fields_(std::move(fields)), num_shards_(num_shards), read_(std::move(read)) {}

  const std::vector<SampleField>& fields() const override { return fields_; }
  int64_t num_shards() const override { return num_shards_; }
  absl::StatusOr<std::unique_ptr<ShardReader>> Open(int64_t shard) const override {
    return std::make_unique<Reader>(read_, shard, fields_.size());
  }

 private:
  class Reader : public ShardReader {
   public:
    Reader(Read read, int64_t shard, size_t num_fields)
        : read_(std::move(read)), shard_(shard), num_fields_(num_fields) {}
    absl::StatusOr<bool> Next(Sample* sample) override {
      sample->Clear(num_fields_);
      absl::StatusOr<bool> more = read_(shard_, index_, sample);
      if (more.ok() && *more) ++index_;
      return more;
    }
    int64_t Position() const override { return index_; }
    absl::Status SeekTo(int64_t position) override {
      if (position < 0) {
        return absl::InvalidArgumentError(absl::StrCat("a shard has no sample ", position));
      }
      index_ = position;
      return absl::OkStatus();
    }

   private:
    const Read read_;
    const int64_t shard_;
    const size_t num_fields_;
    int64_t index_ = 0;
  };

  std::vector<SampleField> fields_;
  int64_t num_shards_;
  Read read_;
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_SAMPLE_SOURCE_H_
