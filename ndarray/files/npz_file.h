#ifndef COOPER_NDARRAY_FILES_NPZ_FILE_H_
#define COOPER_NDARRAY_FILES_NPZ_FILE_H_

// Reads and writes NumPy's .npz files: arrays with names, stored (numpy.savez) or compressed
// (numpy.savez_compressed). Each is an .npy file (npy_file.h) in a zip archive, whose name without
// ".npy" is the array's.
//
// Files are untrusted, as npy_file.h and zip_reader.h say. Checksums are verified. A compressed
// array may be 1,032 times as large as its bytes in the file; `max_bytes` bounds it further.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/files/npy_header.h"
#include "ndarray/files/zip_reader.h"

namespace cooper {

// Options of reading. A file that claims more is refused before anything of that size is allocated.
struct NpzOptions {
  // The largest size of an array, and in LoadAll of all arrays together, headers included.
  int64_t max_bytes = kMaxFileBytes;
};

// An open file, from which arrays are loaded one at a time. Thread-safe.
class NpzFile {
 public:
  // Maps the file, which must not be shortened while the NpzFile lives (atomic_file.h). Errors:
  // those of MapFile and ParseZip (zip_reader.h).
  static absl::StatusOr<NpzFile> Open(const std::string& path, const NpzOptions& options = {});

  // Reads bytes in memory, which must outlive the NpzFile.
  static absl::StatusOr<NpzFile> Parse(absl::string_view bytes, const NpzOptions& options = {});

  // Returns the names of the arrays, in the order of the file.
  const std::vector<std::string>& names() const { return names_; }

  // Load one array to the CPU, or only describe it. kNotFound, with near names, if there is none of
  // that name; kResourceExhausted if it is larger than max_bytes; else the errors of ParseNpy and,
  // for an array that is loaded, kInvalidArgument if its checksum is wrong.
  absl::StatusOr<NDArray> Load(const std::string& name) const;
  absl::StatusOr<NpyHeader> Describe(const std::string& name) const;

  // Loads all arrays, in the order of the file; fails if one cannot be loaded. kResourceExhausted
  // if together they are larger than max_bytes.
  absl::StatusOr<NamedArrays> LoadAll() const;

 private:
  NpzFile(MappedFile file, absl::string_view bytes, const NpzOptions& options)
      : file_(std::move(file)), bytes_(bytes), options_(options) {}

  absl::StatusOr<const ZipEntry*> Find(const std::string& name) const;

  MappedFile file_;          // empty if the bytes are the caller's
  absl::string_view bytes_;  // of the archive
  NpzOptions options_;
  std::string path_;  // empty if the bytes are the caller's
  std::vector<ZipEntry> entries_;
  std::vector<std::string> names_;  // of the entries, without ".npy"
};

// Loads all arrays of a file. Errors: those of NpzFile::Open and LoadAll. If some of the arrays
// cannot be loaded, NpzFile::Load loads the others.
absl::StatusOr<NamedArrays> LoadNpz(const std::string& path, const NpzOptions& options = {});

// Options of SaveNpz.
struct SaveNpzOptions {
  bool compress = false;  // as numpy.savez_compressed; takes memory for the largest array
};

// Replaces the file at `path` (atomic_file.h). Arrays may be views and on any device; NumPy gets
// them by their names, "arg:weight" too. Equal arrays give equal bytes. kInvalidArgument, with the
// name, for a null array, an empty name or one that occurs twice, and the errors of SaveNpy and
// ZipWriter::Add.
absl::Status SaveNpz(const std::string& path, const NamedArrays& arrays,
                     const SaveNpzOptions& options = {});

// Returns the bytes that SaveNpz writes.
absl::StatusOr<std::string> SerializeNpz(const NamedArrays& arrays,
                                         const SaveNpzOptions& options = {});

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_NPZ_FILE_H_
