#ifndef COOPER_NDARRAY_BASE_ATOMIC_FILE_H_
#define COOPER_NDARRAY_BASE_ATOMIC_FILE_H_

// Reads whole files with a bound on their size, and writes them so that a reader, or a run that
// starts after a crash, sees either the old file or the new one, never a part of it.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cooper {

// The default limit of ReadFile: 1 TiB.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 40;

// Returns the file's bytes. kNotFound if there is no such file, kInvalidArgument if it is a
// directory, kResourceExhausted if it has more than `max_bytes`. Every message has the path and the
// system's reason.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes = kMaxFileBytes);

// Returns the text of a UTF-8 file without a leading byte order mark. Errors are as in ReadFile,
// and kInvalidArgument for a Git LFS pointer or a file in a binary format (file_kind.h).
absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         int64_t max_bytes = kMaxFileBytes);

// A file mapped privately into this process: a page is read when it is first touched, is shared
// with other mappings until it is written to, and is never written back. `data` is unmapped with
// its last owner.
struct MappedFile {
  std::shared_ptr<void> data;  // null for an empty file
  int64_t bytes = 0;
};

// Maps the file at `path`. Errors are as in ReadFile, and kInvalidArgument if it is not a regular
// file. If the file is shortened while it is mapped, touching the missing part ends the process
// (SIGBUS).
absl::StatusOr<MappedFile> MapFile(const std::string& path);

// A file that is being written under a temporary name beside `path`. Destruction before Commit()
// removes it and leaves the file at `path` as it was. Any number of processes may write to one
// path; the last to commit wins. Errors are as in ReadFile.
class AtomicFile {
 public:
  // Creates the temporary file, in the folder of `path`, which must exist.
  static absl::StatusOr<AtomicFile> Create(const std::string& path);

  // Leaves `other` without a file, as after Commit().
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Writes bytes at the end of the file.
  absl::Status Append(absl::string_view bytes);

  // Moves the file to its name once its bytes are on the disk. A later Append or Commit fails with
  // kFailedPrecondition.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int fd);

  std::string path_;
  std::string temporary_;
  int fd_;  // -1 once closed
};

// Removes temporary files that killed processes have left: those for `prefix` itself and for paths
// that continue it with a dash or a dot. Files of living processes stay. Returns the number of
// removed files; files that cannot be inspected or removed are skipped. Reads the folder once.
int RemoveTemporaries(const std::string& prefix);

// Replaces the file at `path` by one that holds `bytes`. Errors are as in ReadFile.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_ATOMIC_FILE_H_
