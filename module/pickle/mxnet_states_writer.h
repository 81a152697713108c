#ifndef COOPER_MODULE_PICKLE_MXNET_STATES_WRITER_H_
#define COOPER_MODULE_PICKLE_MXNET_STATES_WRITER_H_

// Writes the pickle of optimizer states that Module.load_optimizer_states of MXNet reads: a
// dictionary whose keys are positions or names of parameters, and whose values are None, an array,
// or a tuple of such values. ParseMxnetStates (mxnet_states.h) reads it too.
//
//   writer.Key(0), writer.Array(mean), writer.Array(var), writer.Tuple(2);  // {0: (mean, var)}
//
// The pickle is of protocol 4, and names the classes NDArray and bytearray only.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/pickle/mxnet_states.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/files/params_entry.h"

namespace cooper {

// Writes one file. After each Key the calls for its value follow. Not thread-safe.
class MxnetStatesWriter {
 public:
  // Begins a file that Commit moves to `path`. MXNet reads its arrays in NumPy mode only if
  // `np_shape`, else outside of it only. Errors: those of AtomicFile::Create.
  static absl::StatusOr<MxnetStatesWriter> Create(const std::string& path, bool np_shape = false);

  // Each writes to the file; errors are those of AtomicFile::Append.

  absl::Status Key(const MxnetKey& key);
  absl::Status None();
  // Writes a value that is on any device and not null. kUnimplemented for an array that needs
  // `np_shape`: one without dimensions or with an extent of 0.
  absl::Status Array(const NDArray& array);
  // Replaces the last `size` values, of which there are 1 to 3, by a tuple of them.
  absl::Status Tuple(int size);

  // Ends the value of the last key, and the file. Errors: those of AtomicFile::Commit.
  absl::Status Commit();

 private:
  MxnetStatesWriter(AtomicFile file, bool np_shape)
      : file_(std::move(file)), format_{.np_shape = np_shape} {}

  // Ends the value of the last key, if there is one.
  absl::Status EndItem();

  AtomicFile file_;
  ParamsFormat format_;
  bool has_key_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_MXNET_STATES_WRITER_H_
