#ifndef COOPER_IO_STREAMS_LINE_READER_H_
#define COOPER_IO_STREAMS_LINE_READER_H_

// Reads a text file line by line, in large blocks and with bounded memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/iterators/byte_stream.h"

namespace cooper {

// The default of max_line_bytes: 16 MiB.
inline constexpr int64_t kMaxLineBytes = int64_t{16} << 20;

// The lines of a file, plain or compressed by gzip or zstd. Not thread-safe. Memory is a block and
// the longest line. Seeking in a compressed file decompresses it from its start.
class LineReader {
 public:
  // Opens a file. Errors are those of ByteStream::Open, and kInvalidArgument for a file that is a
  // Git LFS pointer or in a binary format (file_kind.h).
  static absl::StatusOr<LineReader> Open(const std::string& path, int64_t max_line_bytes);

  // Sets `line` to the next line, without its line break and without a byte order mark at the start
  // of the file; valid until the next call. Returns false at the end. kInvalidArgument, with path
  // and offset, for a line of more than max_line_bytes or damaged compressed data.
  absl::StatusOr<bool> Next(absl::string_view* line);

  // Returns the offset of the next line among the (decompressed) bytes.
  int64_t offset() const { return offset_; }
  // Returns to an offset. kInvalidArgument if it is negative, kOutOfRange if the file is shorter.
  absl::Status SeekTo(int64_t offset);

 private:
  LineReader(std::string path, std::unique_ptr<ByteStream> bytes, int64_t max_line_bytes);
  // Reads more bytes behind those that are left. Sets at_end_ if there are none.
  absl::Status Fill();

  std::string path_;
  std::unique_ptr<ByteStream> bytes_;
  int64_t max_line_bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // the bytes of buffer_ that are not yet lines
  int64_t offset_ = 0;          // of begin_
  bool at_end_ = false;         // the file has no more bytes
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_LINE_READER_H_
