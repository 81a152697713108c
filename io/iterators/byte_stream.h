#ifndef COOPER_IO_ITERATORS_BYTE_STREAM_H_
#define COOPER_IO_ITERATORS_BYTE_STREAM_H_

// Reads the bytes of a file in blocks, decompressed if it is in the format of gzip or zstd.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

// A file that is read from its start to its end. Not thread-safe.
class ByteStream {
 public:
  // Opens a file. Its first bytes decide whether it is compressed; a file whose name ends in ".gz"
  // or ".zst" has to be. kNotFound if there is no such file; kInvalidArgument if it is a directory,
  // or is not compressed as its name says; kFailedPrecondition for zstd in a program that was built
  // without it (decompressor.h). Every message has the path.
  static absl::StatusOr<std::unique_ptr<ByteStream>> Open(const std::string& path);
  virtual ~ByteStream() = default;

  // Reads up to `size` bytes into `to` and returns their number, which is 0 only at the end.
  // kInvalidArgument, with path and offset in the file, if compressed bytes are damaged or end
  // early; later calls fail in the same way. Bytes that follow the last member of a compressed file
  // are an error too, unless they are zeros. kResourceExhausted if there is no memory.
  virtual absl::StatusOr<int64_t> Read(char* to, int64_t size) = 0;

  // Moves to an offset among the (decompressed) bytes. In a compressed file this decompresses all
  // bytes up to there, or, forwards, those between. kOutOfRange if the file is shorter.
  virtual absl::Status SeekTo(int64_t offset) = 0;
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_BYTE_STREAM_H_
