#ifndef COOPER_NDARRAY_BASE_ATOMIC_FILE_H_
#define COOPER_NDARRAY_BASE_ATOMIC_FILE_H_

// Whole files: read with a bound on their size, and written so that a reader, or a run that starts
// after a crash, sees either the old file or the new one, never a part of it.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cooper {

inline constexpr int64_t kMaxFileBytes = int64_t{1} << 40;

// The file's bytes. kNotFound if there is no such file, kInvalidArgument if it is a directory,
// kResourceExhausted if it has more than `max_bytes`; every message has the path and the system's
// reason.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes = kMaxFileBytes);

// A text in UTF-8, without the byte order mark that some editors put before it. Errors are as in
// ReadFile, and kInvalidArgument for a Git LFS pointer or a file in a format that is no text
// (file_kind.h).
absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         int64_t max_bytes = kMaxFileBytes);

// A file's bytes in memory of this process's own: a page is read when it is first touched, shared
// with others that map the file until it is written to, and never written back. `data` is unmapped
// with its last owner.
struct MappedFile {
  std::shared_ptr<void> data;  // null for an empty file
  int64_t bytes = 0;
};

// Errors are as in ReadFile; kInvalidArgument too for what is no regular file. A file that is made
// shorter while it is mapped ends the process that touches what is gone (SIGBUS).
absl::StatusOr<MappedFile> MapFile(const std::string& path);

// A file in the making, under a temporary name beside `path`. Destroying it before Commit() removes
// it and leaves what `path` named as it was. Any number of processes may write to one path: the
// last to commit has it. Errors are as in ReadFile.
class AtomicFile {
 public:
  static absl::StatusOr<AtomicFile> Create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  absl::Status Append(absl::string_view bytes);

  // Puts the file under its name once its bytes are on the disk; nothing may follow.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int fd);

  std::string path_;
  std::string temporary_;
  int fd_;  // -1 once closed
};

// Removes what killed processes have left of files in the making: those for `prefix` itself, and
// for paths that go on behind it with a dash or a dot. Those that a living process writes stay.
// Returns how many there were; what cannot be looked at or removed is passed over. Reads the folder
// once.
int RemoveTemporaries(const std::string& prefix);

// Replaces the file at `path` by one that holds `bytes`.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_ATOMIC_FILE_H_
