#include "io/iterators/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 18;

absl::Status FileError(absl::string_view action, const std::string& path) {
  const std::string message =
      absl::StrCat("cannot ", action, " '", path, "': ", std::strerror(errno));
  if (errno == ENOENT) return absl::NotFoundError(message);
  if (errno == EISDIR) return absl::InvalidArgumentError(message);
  return absl::UnknownError(message);
}

// An open file, which is closed with the object.
class File {
 public:
  explicit File(std::string path)
      : path_(std::move(path)), fd_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  const std::string& path() const { return path_; }

  absl::StatusOr<int64_t> Read(char* to, int64_t size) const {
    while (true) {
      const ssize_t count = read(fd_, to, static_cast<size_t>(std::min(size, int64_t{1} << 28)));
      if (count >= 0) return static_cast<int64_t>(count);
      if (errno != EINTR) return FileError("read", path_);
    }
  }

  absl::StatusOr<int64_t> Size() const {
    struct stat info;
    if (fstat(fd_, &info) != 0) return FileError("read", path_);
    return static_cast<int64_t>(info.st_size);
  }

  absl::Status SeekTo(int64_t offset) const {
    return lseek(fd_, offset, SEEK_SET) < 0 ? FileError("seek in", path_) : absl::OkStatus();
  }

 private:
  const std::string path_;
  const int fd_;
};

absl::Status TooShort(const std::string& path, int64_t offset) {
  return absl::OutOfRangeError(
      absl::StrCat("'", path, "' has fewer than the ", offset, " bytes to skip; has it changed?"));
}

class PlainStream : public ByteStream {
 public:
  explicit PlainStream(std::unique_ptr<File> file) : file_(std::move(file)) {}

  absl::StatusOr<int64_t> Read(char* to, int64_t size) override { return file_->Read(to, size); }

  absl::Status SeekTo(int64_t offset) override {
    COOPER_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
    if (offset > size) return TooShort(file_->path(), offset);
    return file_->SeekTo(offset);
  }

 private:
  const std::unique_ptr<File> file_;
};

// Decompresses the members of a gzip file one after the other.
class GzipStream : public ByteStream {
 public:
  explicit GzipStream(std::unique_ptr<File> file)
      : file_(std::move(file)), block_(static_cast<size_t>(kBlockBytes)) {
    constexpr int kGzip = 16;  // zlib: expect gzip's header and check its trailer
    is_ready_ = inflateInit2(&state_, MAX_WBITS + kGzip) == Z_OK;
  }
  ~GzipStream() override { inflateEnd(&state_); }

  absl::StatusOr<int64_t> Read(char* to, int64_t size) override {
    if (!is_ready_) return absl::ResourceExhaustedError("zlib: there is no memory");
    COOPER_RETURN_IF_ERROR(failed_);
    size = std::min(size, int64_t{1} << 30);  // zlib counts in 32 bits
    failed_ = Inflate(to, size);
    COOPER_RETURN_IF_ERROR(failed_);
    const int64_t count = size - state_.avail_out;
    offset_ += count;
    return count;
  }

  absl::Status SeekTo(int64_t offset) override {
    if (offset < offset_ || !failed_.ok()) COOPER_RETURN_IF_ERROR(Rewind());
    std::vector<char> skipped(static_cast<size_t>(std::min(offset - offset_, kBlockBytes)));
    while (offset_ < offset) {
      const int64_t wanted = std::min(offset - offset_, std::ssize(skipped));
      COOPER_ASSIGN_OR_RETURN(const int64_t count, Read(skipped.data(), wanted));
      if (count == 0) return TooShort(file_->path(), offset);
    }
    return absl::OkStatus();
  }

 private:
  enum class At { kMember, kBetween, kEnd };

  absl::Status Rewind() {
    COOPER_RETURN_IF_ERROR(file_->SeekTo(0));
    inflateReset(&state_);
    state_.avail_in = 0;
    at_ = At::kBetween;
    read_ = offset_ = 0;
    failed_ = absl::OkStatus();
    return absl::OkStatus();
  }

  absl::Status Damaged(absl::string_view how) const {
    return absl::InvalidArgumentError(absl::StrCat("'", file_->path(), "': the compressed data ",
                                                   how, " at byte ", read_ - state_.avail_in));
  }

  // Reads a block if none is left. Leaves avail_in at 0 at the end of the file.
  absl::Status Fill() {
    if (state_.avail_in > 0) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(const int64_t count, file_->Read(block_.data(), kBlockBytes));
    read_ += count;
    state_.next_in = reinterpret_cast<Bytef*>(block_.data());
    state_.avail_in = static_cast<uInt>(count);
    return absl::OkStatus();
  }

  // Decompresses until `size` bytes are written or the file ends; avail_out says what is missing.
  absl::Status Inflate(char* to, int64_t size) {
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(size);
    while (state_.avail_out > 0 && at_ != At::kEnd) {
      COOPER_RETURN_IF_ERROR(Fill());
      if (state_.avail_in == 0) {
        if (at_ == At::kMember) return Damaged("ends early");
        at_ = At::kEnd;
        break;
      }
      if (at_ == At::kBetween) {
        // Tapes and some tools pad a file with zeros.
        while (read_ > state_.avail_in && state_.avail_in > 0 && *state_.next_in == 0) {
          ++state_.next_in;
          --state_.avail_in;
        }
        if (state_.avail_in == 0) continue;
        inflateReset(&state_);
        at_ = At::kMember;
      }
      const int result = inflate(&state_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        at_ = At::kBetween;
      } else if (result == Z_MEM_ERROR) {
        return absl::ResourceExhaustedError(
            absl::StrCat("'", file_->path(), "': there is no memory to decompress it"));
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return Damaged(state_.msg == nullptr ? "is damaged"
                                             : absl::StrCat("is damaged (", state_.msg, ")"));
      }
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<File> file_;
  std::vector<char> block_;
  z_stream state_ = {};
  bool is_ready_;
  At at_ = At::kBetween;
  int64_t read_ = 0;    // bytes of the file in all blocks so far
  int64_t offset_ = 0;  // decompressed bytes so far
  absl::Status failed_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> ByteStream::Open(const std::string& path) {
  auto file = std::make_unique<File>(path);
  if (!file->is_open()) return FileError("open", path);
  constexpr absl::string_view kMagic = "\x1f\x8b";
  char first[2];
  int64_t count = 0;
  while (count < 2) {
    COOPER_ASSIGN_OR_RETURN(const int64_t more, file->Read(first + count, 2 - count));
    if (more == 0) break;
    count += more;
  }
  const bool is_gzip = absl::string_view(first, static_cast<size_t>(count)) == kMagic;
  if (!is_gzip && absl::EndsWith(path, ".gz")) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is not compressed with gzip, but its name ends in .gz"));
  }
  COOPER_RETURN_IF_ERROR(file->SeekTo(0));
  if (is_gzip) return std::make_unique<GzipStream>(std::move(file));
  return std::make_unique<PlainStream>(std::move(file));
}

}  // namespace cooper
