#ifndef COOPER_IO_ITERATORS_NDARRAY_ITER_H_
#define COOPER_IO_ITERATORS_NDARRAY_ITER_H_

// Serves batches of the rows of arrays in memory, as MXNet's NDArrayIter.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/dtype.h"

namespace cooper {

class KeyValues;  // key_values.h

// Arrays with the names of the inputs that receive them.
using NamedSources = std::vector<std::pair<std::string, NDArray>>;

// Name arrays as MXNet does: a single array is `default_name`, several are "_0_data", "_1_data",
// ...; the arrays of a map come in order of their names.
NamedSources NameArrays(const std::vector<NDArray>& arrays, absl::string_view default_name);
NamedSources NameArrays(const std::map<std::string, NDArray>& arrays);

// The treatment of the rows that do not fill the last batch.
enum class LastBatchHandle {
  kPad,       // rows from the start of the epoch fill it; `pad` counts them
  kDiscard,   // they are left out
  kRollOver,  // they come first in the next epoch, whose first batch has their number as `pad`
};

// Parses "pad", "discard" and "roll_over"; kInvalidArgument for other names.
absl::StatusOr<LastBatchHandle> LastBatchHandleFromName(absl::string_view name);

// Options of NDArrayIter::Create. The defaults are MXNet's, but for the seed: the order of each
// epoch is a function of the seed and the number of the epoch.
struct NDArrayIterOptions {
  int64_t batch_size = 1;
  bool shuffle = false;  // permutes all arrays equally, anew in each epoch
  LastBatchHandle last_batch_handle = LastBatchHandle::kPad;
  std::string layout = "NCHW";  // of the descriptions; N, if present, must be the first
  uint64_t seed = DefaultSeed();
  // The dtypes to convert the arrays to; by default batches keep the arrays' dtypes. Create fails
  // if a value would change (CheckExactIn, exact_integers.h).
  std::optional<DType> data_dtype;
  std::optional<DType> label_dtype;
};

// Serves the rows of its arrays, which are shared, not copied, unless they are converted. Not
// thread-safe.
class NDArrayIter : public DataIter {
 public:
  // Creates an iterator. The arrays must not be written to while the iterator or one of its batches
  // is in use. kInvalidArgument, naming the array, if there is no data, batch_size < 1, an array is
  // not on the CPU or has no rows, the numbers of rows differ, a dtype cannot hold a value, or N is
  // not the first axis of the layout (MXNet would cut batches along it).
  static absl::StatusOr<std::unique_ptr<NDArrayIter>> Create(NamedSources data, NamedSources label,
                                                             NDArrayIterOptions options = {});

  // In a batch, `index` holds row numbers. A batch of consecutive rows is a view of the arrays, any
  // other a copy. With kPad a batch larger than the data has its rows several times.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  // Reset begins the next epoch: with a new order if `shuffle` is set, and with kRollOver the rows
  // that the last epoch left over first. HardReset begins the next epoch without them.
  absl::Status Reset() override;
  absl::Status HardReset() override;
  UnusedSamples unused_samples() const override;

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  int64_t batch_size() const override { return options_.batch_size; }
  std::optional<double> invalid_label(absl::string_view) const override { return std::nullopt; }

  // A state has the seed, the epoch and the place in it, and with kRollOver the rows that were
  // carried over, which are fewer than a batch. It fits an iterator with as many rows, the same
  // batch_size, shuffle and last_batch_handle; the arrays are not compared.
  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

  // Returns the extent of the first axis, which all arrays share.
  int64_t num_rows() const { return num_rows_; }

 private:
  NDArrayIter(NamedSources data, NamedSources label, NDArrayIterOptions options);
  // The checks of Create; sets num_rows_.
  absl::Status Check();
  // Replaces the arrays by copies of the dtypes of the options, if there are any.
  absl::Status Convert();
  // Checks that a state belongs to an iterator with these options.
  absl::Status CheckOptions(const KeyValues& state) const;
  // Sets order_ for epoch_ and cursor_ to its begin. O(rows) time.
  void StartEpoch();

  NamedSources data_;
  NamedSources label_;
  const NDArrayIterOptions options_;
  int64_t num_rows_ = 0;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  uint64_t seed_;
  uint64_t epoch_ = 0;
  std::vector<int64_t> carried_;  // rolled over from the last epoch
  std::vector<int64_t> order_;    // this epoch's rows: carried_, then all rows
  int64_t cursor_ = 0;            // in order_
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_NDARRAY_ITER_H_
