#ifndef COOPER_IO_STREAMS_DECODING_READER_H_
#define COOPER_IO_STREAMS_DECODING_READER_H_

// Reads the bytes of samples in order on the caller's thread and decodes them on several threads,
// for sources whose samples are stored as bytes: lines of a text, records.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/streams/sample.h"
#include "io/streams/sample_source.h"

namespace cooper {

// Reads the bytes of a shard's samples, in order. The functions have the contracts of
// ShardReader's. Called on the thread that calls the DecodingReader, never on several at a time.
class EncodedReader {
 public:
  virtual ~EncodedReader() = default;
  virtual absl::StatusOr<bool> Next(std::string* encoded) = 0;
  virtual int64_t Position() const = 0;
  virtual absl::Status SeekTo(int64_t position) = 0;
};

// Sets `sample`, whose fields are in an unspecified state, to the sample that has the given bytes
// at `position`. Thread-safe. Must not throw: on a helper thread an exception ends the program.
using DecodeSample =
    std::function<absl::Status(absl::string_view encoded, int64_t position, Sample* sample)>;

// Reads ahead and decodes a block of samples at a time: a single one after a seek, then twice as
// many in each block, up to 256 samples or 1 MiB of bytes. Errors come where the sample is read.
// Positions are those of `reader`, so a state has the sample that Next returns next, not those that
// were decoded ahead.
class DecodingReader : public ShardReader {
 public:
  // Adds the time of decoding to `seconds`, which has to outlive the reader.
  DecodingReader(std::unique_ptr<EncodedReader> reader, DecodeSample decode,
                 std::atomic<double>* seconds);

  absl::StatusOr<bool> Next(Sample* sample) override;
  int64_t Position() const override;
  absl::Status SeekTo(int64_t position) override;

 private:
  // A sample of the block: its bytes, where it begins, and what decoding them gave. Items are used
  // again for the next block, so that their memory is.
  struct Item {
    std::string encoded;
    int64_t position = 0;
    Sample sample;
    absl::Status decoded;
  };

  // Reads and decodes the next block. Replaces all items. An error of the reader ends the block and
  // is kept in follows_, so that the samples before it are still returned.
  void Fill();

  const std::unique_ptr<EncodedReader> reader_;
  const DecodeSample decode_;
  std::atomic<double>* const seconds_;
  std::vector<Item> block_;
  size_t next_ = 0, size_ = 0;           // the items of block_ that were not yet returned
  size_t block_samples_ = 1;             // of the next block
  absl::StatusOr<bool> follows_ = true;  // whether the reader has samples behind the block
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_DECODING_READER_H_
