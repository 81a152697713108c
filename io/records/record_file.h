#ifndef COOPER_IO_RECORDS_RECORD_FILE_H_
#define COOPER_IO_RECORDS_RECORD_FILE_H_

// Reads ranges of a file of any size through one buffer of fixed size. RecordReader parses the
// ranges.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cooper {

// A file that is open for reading. Not thread-safe. Owns the file descriptor. Sequential reads cost
// one system call for each 64 KiB.
class RecordFile {
 public:
  // Opens a file. kNotFound if there is none, kInvalidArgument if it is not a regular file; other
  // errors have the system's code. Every message has the path.
  static absl::StatusOr<std::unique_ptr<RecordFile>> Open(const std::string& path);

  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  const std::string& path() const { return path_; }
  // Returns the size that the file had when it was opened.
  int64_t size() const { return size_; }

  // Copies `bytes` bytes from `offset` on to `out`. Requires that the range is inside size().
  // kDataLoss, with path and offset, if the file has become shorter.
  absl::Status Read(int64_t offset, int64_t bytes, char* out);

  // Returns a view of at least `least` bytes from `offset` on, and of as many more as the buffer
  // holds. It is valid until the next call of Read or Peek. Requires that the range is inside
  // size() and that `least` is at most kPeekBytes. Errors are as in Read.
  absl::StatusOr<absl::string_view> Peek(int64_t offset, int64_t least);
  static constexpr int64_t kPeekBytes = 64;

 private:
  RecordFile(std::string path, int fd, int64_t size);
  absl::Status ReadUnbuffered(int64_t offset, int64_t bytes, char* out) const;

  const std::string path_;
  const int fd_;
  const int64_t size_;
  std::string buffer_;  // the bytes of the file from buffer_offset_ on
  int64_t buffer_offset_ = 0;
};

}  // namespace cooper

#endif  // COOPER_IO_RECORDS_RECORD_FILE_H_
