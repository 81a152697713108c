#ifndef COOPER_IO_ITERATORS_GZIP_READER_H_
#define COOPER_IO_ITERATORS_GZIP_READER_H_

// Reads binary files that may be compressed with gzip, such as those of MNIST.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

// Reads a file from its beginning; one compressed with gzip is decompressed. Not thread-safe.
class GzipReader {
 public:
  // Opens a file. Errors have the system's code, kNotFound if there is no such file, and the path.
  static absl::StatusOr<std::unique_ptr<GzipReader>> Open(const std::string& path);

  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Returns the next `bytes` bytes. kInvalidArgument, with the path, if the file ends before or is
  // corrupted; the memory used is then at most twice what the file had.
  absl::StatusOr<std::string> Read(int64_t bytes);

  // Passes over the next `bytes` bytes. Errors are as in Read.
  absl::Status Skip(int64_t bytes);

 private:
  GzipReader(std::string path, void* file);

  const std::string path_;
  void* const file_;    // zlib's gzFile
  int64_t offset_ = 0;  // in the decompressed bytes
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_GZIP_READER_H_
