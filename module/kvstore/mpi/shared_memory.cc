#include "module/kvstore/mpi/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cooper {
namespace {

// Precedes the memory. A process on another machine or in a container may find other memory under
// the same handle, which the token reveals.
struct Header {
  uint64_t token = 0;
  int64_t bytes = 0;
};
// At least as large as any page.
constexpr int64_t kHeaderBytes = 65536;
static_assert(sizeof(Header) <= kHeaderBytes);

absl::Status Unavailable(const char* call, int error) {
  return absl::UnavailableError(absl::StrCat("shared memory: ", call, ": ", std::strerror(error)));
}

// Returns the memory that this process may use: the machine's, or its container's limit.
int64_t MemoryLimit() {
  int64_t limit = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    int64_t of_container = 0;  // a file that says "max" leaves it so
    if (file >> of_container && of_container > 0) limit = std::min(limit, of_container);
  }
  return limit;
}

uint64_t NewToken() {
  std::random_device random;
  return (static_cast<uint64_t>(random()) << 32) | random();
}

}  // namespace

SharedMemory::SharedMemory(void* mapped, int64_t bytes, int file, std::string handle)
    : mapped_(mapped), bytes_(bytes), file_(file), handle_(std::move(handle)) {}

SharedMemory::~SharedMemory() {
  munmap(mapped_, kHeaderBytes + bytes_);
  if (file_ >= 0) close(file_);
}

void* SharedMemory::data() const { return static_cast<char*>(mapped_) + kHeaderBytes; }

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(int64_t bytes) {
  if (bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("shared memory of ", bytes, " bytes"));
  }
  // The system would overcommit pages until it has to kill processes.
  const int64_t machine_bytes = MemoryLimit();
  if (bytes > machine_bytes / 4) {
    return absl::ResourceExhaustedError(
        absl::StrCat("shared memory of ", bytes, " bytes: more than a quarter of the machine's ",
                     machine_bytes));
  }
  const int file = memfd_create("cooper_kvstore", MFD_CLOEXEC);
  if (file < 0) return Unavailable("memfd_create", errno);
  // Reserves the pages now: a missing page would be a signal in the middle of a step.
  int error = 0;
  do {
    error = posix_fallocate(file, 0, kHeaderBytes + bytes);
  } while (error == EINTR);
  if (error != 0) {
    close(file);
    return absl::ResourceExhaustedError(
        absl::StrCat("shared memory of ", bytes, " bytes: ", std::strerror(error)));
  }
  void* mapped = mmap(nullptr, kHeaderBytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    const int map_error = errno;
    close(file);
    return Unavailable("mmap", map_error);
  }
  auto* header = static_cast<Header*>(mapped);
  *header = {.token = NewToken(), .bytes = bytes};
  std::string handle = absl::StrCat(getpid(), " ", file, " ", header->token);
  return std::unique_ptr<SharedMemory>(new SharedMemory(mapped, bytes, file, std::move(handle)));
}

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Open(const std::string& handle) {
  const std::vector<std::string> parts = absl::StrSplit(handle, ' ');
  int process = 0;
  int its_file = 0;
  uint64_t token = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &process) ||
      !absl::SimpleAtoi(parts[1], &its_file) || !absl::SimpleAtoi(parts[2], &token)) {
    return absl::InvalidArgumentError(absl::StrCat("shared memory: bad handle '", handle, "'"));
  }
  const std::string path = absl::StrCat("/proc/", process, "/fd/", its_file);
  // Non-blocking, since on another machine the handle may be that of a pipe.
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Unavailable(path.c_str(), errno);
  struct stat stat = {};
  void* mapped = MAP_FAILED;
  if (fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size >= kHeaderBytes) {
    mapped = mmap(nullptr, stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (mapped == MAP_FAILED) {
    return absl::UnavailableError(absl::StrCat("shared memory: ", path, " is none"));
  }
  const Header header = *static_cast<Header*>(mapped);
  if (header.token != token || header.bytes != stat.st_size - kHeaderBytes) {
    munmap(mapped, stat.st_size);
    return absl::UnavailableError(absl::StrCat("shared memory: ", path, " is another's"));
  }
  return std::unique_ptr<SharedMemory>(new SharedMemory(mapped, header.bytes, -1, handle));
}

}  // namespace cooper
