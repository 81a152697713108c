#include "tests/fuzz/scratch_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

const std::string* scratch_folder = nullptr;

void RemoveScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(*scratch_folder, error);
}

}  // namespace

const std::string& ScratchFolder() {
  if (scratch_folder == nullptr) {
    const char* const parent = std::getenv("TEST_TMPDIR");
    const bool in_memory = parent == nullptr && access("/dev/shm", W_OK) == 0;
    scratch_folder = new std::string(absl::StrCat(parent != nullptr ? parent
                                                  : in_memory       ? "/dev/shm"
                                                                    : "/tmp",
                                                  "/cooper_fuzz_", getpid()));
    std::filesystem::create_directories(*scratch_folder);
    std::atexit(RemoveScratchFolder);
  }
  return *scratch_folder;
}

void WriteUnsynced(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace cooper
