#include "io/iterators/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/iterators/decompressor.h"
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

// Decompresses the members of a file one after the other.
class CompressedStream : public ByteStream {
 public:
  CompressedStream(std::unique_ptr<File> file, std::unique_ptr<Decompressor> decompressor)
      : file_(std::move(file)),
        decompressor_(std::move(decompressor)),
        block_(static_cast<size_t>(kBlockBytes)) {}

  absl::StatusOr<int64_t> Read(char* to, int64_t size) override {
    COOPER_RETURN_IF_ERROR(failed_);
    absl::Span<char> out(to, static_cast<size_t>(size));
    failed_ = Decompress(&out);
    COOPER_RETURN_IF_ERROR(failed_);
    const int64_t count = size - std::ssize(out);
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
    in_ = {};
    at_ = At::kBetween;
    read_ = offset_ = 0;
    failed_ = absl::OkStatus();
    return absl::OkStatus();
  }

  absl::Status Damaged(absl::string_view how) const {
    return absl::InvalidArgumentError(absl::StrCat("'", file_->path(), "': the compressed data ",
                                                   how, " at byte ", read_ - std::ssize(in_)));
  }

  // Reads a block if none is left. Leaves in_ empty at the end of the file.
  absl::Status Fill() {
    if (!in_.empty()) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(const int64_t count, file_->Read(block_.data(), kBlockBytes));
    read_ += count;
    in_ = absl::MakeConstSpan(block_.data(), static_cast<size_t>(count));
    return absl::OkStatus();
  }

  // Decompresses until `out` is full or the file ends.
  absl::Status Decompress(absl::Span<char>* out) {
    while (!out->empty() && at_ != At::kEnd) {
      COOPER_RETURN_IF_ERROR(Fill());
      const bool at_end = in_.empty();
      if (at_ == At::kBetween) {
        // Tapes and some tools pad a file with zeros.
        while (read_ > std::ssize(in_) && !in_.empty() && in_[0] == 0) in_.remove_prefix(1);
        if (at_end) at_ = At::kEnd;
        if (in_.empty()) continue;
        decompressor_->Restart();
        at_ = At::kMember;
      }
      const size_t room = out->size();
      const absl::StatusOr<bool> ends = decompressor_->Decompress(&in_, out);
      if (absl::IsInvalidArgument(ends.status())) return Damaged(ends.status().message());
      COOPER_RETURN_IF_ERROR(AddContext(ends.status(), "'", file_->path(), "'"));
      if (*ends) {
        at_ = At::kBetween;
      } else if (at_end && out->size() == room) {
        return Damaged("ends early");
      }
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<File> file_;
  const std::unique_ptr<Decompressor> decompressor_;
  std::vector<char> block_;
  absl::Span<const char> in_;  // the bytes of block_ that are not yet decompressed
  At at_ = At::kBetween;
  int64_t read_ = 0;    // bytes of the file in all blocks so far
  int64_t offset_ = 0;  // decompressed bytes so far
  absl::Status failed_;
};

bool BeginsAsGzip(absl::string_view bytes) { return absl::StartsWith(bytes, "\x1f\x8b"); }

// A file can begin with a frame to skip, whose first byte is one of 16.
bool BeginsAsZstd(absl::string_view bytes) {
  return absl::StartsWith(bytes, "\x28\xb5\x2f\xfd") ||
         (absl::EndsWith(bytes, "\x2a\x4d\x18") && bytes[0] >= 0x50 && bytes[0] <= 0x5f);
}

constexpr int64_t kFirstBytes = 4;

struct Format {
  const char* name;
  const char* ending;                       // files of such names have to be of the format
  bool (*begins)(absl::string_view bytes);  // whether a file of the format has these first bytes
  absl::StatusOr<std::unique_ptr<Decompressor>> (*make)();
};
constexpr Format kFormats[] = {{"gzip", ".gz", BeginsAsGzip, MakeGzipDecompressor},
                               {"zstd", ".zst", BeginsAsZstd, MakeZstdDecompressor}};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> ByteStream::Open(const std::string& path) {
  auto file = std::make_unique<File>(path);
  if (!file->is_open()) return FileError("open", path);
  char first[kFirstBytes];
  int64_t count = 0;
  while (count < kFirstBytes) {
    COOPER_ASSIGN_OR_RETURN(const int64_t more, file->Read(first + count, kFirstBytes - count));
    if (more == 0) break;
    count += more;
  }
  COOPER_RETURN_IF_ERROR(file->SeekTo(0));
  const absl::string_view bytes(first, static_cast<size_t>(count));
  const auto* const format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                          [&](const Format& f) { return f.begins(bytes); });
  for (const Format& named : kFormats) {
    if (!absl::EndsWith(path, named.ending) || format == &named) continue;
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' is not compressed with ",
                                                   named.name, ", but its name ends in ",
                                                   named.ending));
  }
  if (format == std::end(kFormats)) return std::make_unique<PlainStream>(std::move(file));
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Decompressor> decompressor,
                          AddContext(format->make(), "'", path, "'"));
  return std::make_unique<CompressedStream>(std::move(file), std::move(decompressor));
}

}  // namespace cooper
