#ifndef COOPER_MODULE_KVSTORE_MPI_SHARED_MEMORY_H_
#define COOPER_MODULE_KVSTORE_MPI_SHARED_MEMORY_H_

// Memory that processes of one machine have in common. It has no name in a file system that a
// killed process could leave behind: the others open it through the process that made it.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cooper {

class SharedMemory {
 public:
  // `bytes` zero bytes. kResourceExhausted if they are more than a quarter of the machine's or the
  // container's, kUnavailable if the system has no such memory, kInvalidArgument for a negative
  // size.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(int64_t bytes);
  // The memory with this handle, which its maker has to keep until then. kUnavailable if this
  // process cannot see it, on another machine for one; kInvalidArgument for what is no handle.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Open(const std::string& handle);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Aligned to a page.
  void* data() const;
  int64_t bytes() const { return bytes_; }
  // What another process needs to open it.
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
