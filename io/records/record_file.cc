#include "io/records/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

constexpr int64_t kBufferBytes = int64_t{1} << 16;

absl::Status SystemError(absl::string_view action, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", action, " '", path, "'"));
}

}  // namespace

RecordFile::RecordFile(std::string path, int fd, int64_t size)
    : path_(std::move(path)), fd_(fd), size_(size) {}

RecordFile::~RecordFile() { close(fd_); }

absl::StatusOr<std::unique_ptr<RecordFile>> RecordFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("open", path);
  struct stat info;
  const bool has_info = fstat(fd, &info) == 0;
  auto file = absl::WrapUnique(new RecordFile(path, fd, has_info ? info.st_size : 0));
  if (!has_info) return SystemError("read", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read '", path, "': it is not a regular file"));
  }
  return file;
}

absl::Status RecordFile::ReadUnbuffered(int64_t offset, int64_t bytes, char* out) const {
  while (bytes > 0) {
    const ssize_t got = pread(fd_, out, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read", path_);
    if (got == 0) {
      return absl::DataLossError(absl::StrCat("'", path_, "', offset ", offset,
                                              ": the file has become shorter than its ", size_,
                                              " bytes at the opening"));
    }
    offset += got;
    bytes -= got;
    out += got;
  }
  return absl::OkStatus();
}

absl::Status RecordFile::Read(int64_t offset, int64_t bytes, char* out) {
  const int64_t in_buffer = offset - buffer_offset_;
  const auto buffered = static_cast<int64_t>(buffer_.size());
  if (in_buffer >= 0 && in_buffer < buffered) {
    const int64_t copied = std::min(bytes, buffered - in_buffer);
    std::memcpy(out, buffer_.data() + in_buffer, static_cast<size_t>(copied));
    offset += copied;
    bytes -= copied;
    out += copied;
  }
  return ReadUnbuffered(offset, bytes, out);
}

absl::StatusOr<absl::string_view> RecordFile::Peek(int64_t offset, int64_t least) {
  const int64_t in_buffer = offset - buffer_offset_;
  const auto buffered = static_cast<int64_t>(buffer_.size());
  if (in_buffer < 0 || in_buffer + least > buffered) {
    buffer_.resize(static_cast<size_t>(std::min(kBufferBytes, size_ - offset)));
    const absl::Status status =
        ReadUnbuffered(offset, static_cast<int64_t>(buffer_.size()), buffer_.data());
    if (!status.ok()) {
      buffer_.clear();
      return status;
    }
    buffer_offset_ = offset;
  }
  return absl::string_view(buffer_).substr(static_cast<size_t>(offset - buffer_offset_));
}

}  // namespace cooper
