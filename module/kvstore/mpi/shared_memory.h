#ifndef COOPER_MODULE_KVSTORE_MPI_SHARED_MEMORY_H_
#define COOPER_MODULE_KVSTORE_MPI_SHARED_MEMORY_H_

// Memory shared by the processes of one machine. It has no name in a file system that a killed
// process could leave behind: the others open it through the process that created it.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cooper {

// Maps the memory for its own lifetime.
class SharedMemory {
 public:
  // Allocates `bytes` zero bytes. Errors: kResourceExhausted if that is more than a quarter of the
  // machine's or the container's memory, kUnavailable if the system has no such memory,
  // kInvalidArgument for a negative size.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(int64_t bytes);
  // Opens the memory with this handle, which its creator must keep until then. Errors: kUnavailable
  // if this process cannot access it, for example on another machine; kInvalidArgument for text
  // that is not a handle.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Open(const std::string& handle);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The memory, aligned to a page and owned by this object.
  void* data() const;
  int64_t bytes() const { return bytes_; }
  // The text with which another process opens it.
  const std::string& handle() const { return handle_; }

 private:
  SharedMemory(void* mapped, int64_t bytes, int file, std::string handle);

  void* mapped_;
  int64_t bytes_;
  int file_;  // -1 in a process that only opened it
  std::string handle_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_SHARED_MEMORY_H_
