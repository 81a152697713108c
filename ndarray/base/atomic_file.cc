#include "ndarray/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// One read() or write() moves at most 2 GiB on Linux; some file systems fail well below that.
constexpr size_t kMaxTransfer = size_t{1} << 28;

// Resizes the string; returns false if memory is short.
bool Resize(size_t size, std::string* bytes) {
  try {
    bytes->resize(size);
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
  return true;
}

absl::Status NoMemory(const std::string& path, int64_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot read '", path, "': there is no memory for its ", bytes, " bytes"));
}

absl::Status ErrnoStatus(absl::string_view action, const std::string& path) {
  const int error = errno;
  const std::string message =
      absl::StrCat("cannot ", action, " '", path, "': ", std::strerror(error));
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
      return absl::ResourceExhaustedError(message);
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(message);
    default:
      return absl::UnknownError(message);
  }
}

// Closes a descriptor at the end of its scope.
class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {}
  ~ScopedFd() {
    if (fd_ >= 0) close(fd_);
  }
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Syncs a directory: a rename of a file in it survives a crash only after that.
absl::Status SyncDirectory(const std::string& directory) {
  ScopedFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return ErrnoStatus("open the directory", directory);
  // Some network file systems report that they cannot sync a directory; there is no alternative.
  if (fsync(fd.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    return ErrnoStatus("sync the directory", directory);
  }
  return absl::OkStatus();
}

// Locks a temporary file that is being written, so that RemoveTemporaries recognises it: a
// temporary file that can be locked was left by a dead process. Returns false if RemoveTemporaries
// removed the file before the lock was taken. Where a file system has no locks, nothing is locked
// and nothing removed.
bool TakeTemporary(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat info;
  return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

constexpr char kTemporary[] = ".tmp";

// Returns whether a name ends like those that AtomicFile::Create makes: ".tmp123-4".
bool IsTemporary(absl::string_view name) {
  const size_t at = name.rfind(kTemporary);
  if (at == absl::string_view::npos) return false;
  const absl::string_view id = name.substr(at + std::strlen(kTemporary));
  const size_t dash = id.find('-');
  return dash != absl::string_view::npos && dash > 0 && dash + 1 < id.size() &&
         id.find_first_not_of("0123456789-") == absl::string_view::npos;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return ErrnoStatus("open", path);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus("read", path);
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return ErrnoStatus("read", path);
  }
  const auto too_large = [&] {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot read '", path, "': it has more than ", max_bytes, " bytes"));
  };
  if (info.st_size > max_bytes) return too_large();
  // The size is only a first guess: a pipe has none, and a file may grow.
  std::string bytes;
  size_t used = 0;
  if (!Resize(static_cast<size_t>(info.st_size) + 1, &bytes)) return NoMemory(path, info.st_size);
  while (true) {
    if (used == bytes.size() &&
        !Resize(bytes.size() + std::max<size_t>(bytes.size(), 4096), &bytes)) {
      return NoMemory(path, static_cast<int64_t>(used));
    }
    const ssize_t got =
        read(fd.get(), bytes.data() + used, std::min(bytes.size() - used, kMaxTransfer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus("read", path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (static_cast<int64_t>(used) > max_bytes) return too_large();
  }
  bytes.resize(used);
  return bytes;
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path, int64_t max_bytes) {
  COOPER_ASSIGN_OR_RETURN(std::string text, ReadFile(path, max_bytes));
  const std::string foreign = DescribeForeignFile(text, FileKind::kText);
  if (!foreign.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' is not a text file", foreign));
  }
  constexpr absl::string_view kByteOrderMark = "\uFEFF";
  if (absl::StartsWith(text, kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

absl::StatusOr<MappedFile> MapFile(const std::string& path) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return ErrnoStatus("open", path);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus("read", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot map '", path, "': it is not a regular file"));
  }
  if (info.st_size == 0) return MappedFile();
  const auto bytes = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd.get(),
                    /*offset=*/0);
  if (data == MAP_FAILED) return ErrnoStatus("map", path);
  return MappedFile{.data = {data, [bytes](void* mapped) { munmap(mapped, bytes); }},
                    .bytes = info.st_size};
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path) {
  // The name is unique to this process and call; O_EXCL skips a name that a crash has left.
  static std::atomic<uint64_t> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string temporary = absl::StrCat(path, kTemporary, getpid(), "-", counter++);
    const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return ErrnoStatus("create", temporary);
    if (TakeTemporary(fd)) return AtomicFile(path, std::move(temporary), fd);
    close(fd);
  }
  errno = EEXIST;
  return ErrnoStatus("create a temporary file for", path);
}

absl::Status AtomicFile::Append(absl::string_view bytes) {
  if (fd_ < 0) {
    return absl::FailedPreconditionError(absl::StrCat("'", path_, "' was committed or failed"));
  }
  while (!bytes.empty()) {
    const ssize_t put = write(fd_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoStatus("write", temporary_);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (fd_ < 0) {
    return absl::FailedPreconditionError(absl::StrCat("'", path_, "' was committed or failed"));
  }
  if (fsync(fd_) != 0) return ErrnoStatus("sync", temporary_);
  // Closing releases the lock, after which RemoveTemporaries could remove a temporary file.
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return ErrnoStatus("replace", path_);
  temporary_.clear();
  if (close(std::exchange(fd_, -1)) != 0) return ErrnoStatus("close", path_);
  return SyncDirectory(DirectoryOf(path_));
}

int RemoveTemporaries(const std::string& prefix) {
  const std::string folder = DirectoryOf(prefix);
  const std::string begin = prefix.substr(prefix.rfind('/') + 1);  // all of it if it has no slash
  int removed = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  // A range-based for would throw in its increment.
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!absl::StartsWith(name, begin) || !IsTemporary(name)) continue;
    if (name[begin.size()] != '-' && name[begin.size()] != '.') continue;
    const ScopedFd fd(open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd.get() < 0 || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    removed += unlink(entry->path().c_str()) == 0 ? 1 : 0;
  }
  return removed;
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(file.Append(bytes));
  return file.Commit();
}

}  // namespace cooper
