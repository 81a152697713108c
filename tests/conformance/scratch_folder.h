#ifndef COOPER_TESTS_CONFORMANCE_SCRATCH_FOLDER_H_
#define COOPER_TESTS_CONFORMANCE_SCRATCH_FOLDER_H_

// A folder for the files that a case writes, in memory where the system has a place for that:
// cooper waits until a checkpoint is on the disk, which takes longer than most cases.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cooper::conformance {

// The destructor removes the folder.
class ScratchFolder {
 public:
  ScratchFolder() {
    const std::filesystem::path parent =
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (parent / "cooper_case_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Returns the path; empty if the folder could not be created.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_SCRATCH_FOLDER_H_
