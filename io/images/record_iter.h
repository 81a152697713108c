#ifndef COOPER_IO_IMAGES_RECORD_ITER_H_
#define COOPER_IO_IMAGES_RECORD_ITER_H_

// The common part of the iterators over images in records: chooses and reads the records of each
// batch, which a function decodes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/data_iter.h"
#include "io/images/image_list.h"
#include "io/images/record_files.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// The names and defaults are MXNet's.
struct RecordIterOptions {
  // Required: a file of records as PackImg makes them, several with ';' between, or a folder of
  // such files (io/iterators/input_files.h).
  std::string path_imgrec;
  // The indices of these files. `shuffle` needs them, and parts are then equal in records, not in
  // bytes.
  std::string path_imgidx;
  // A list of lines "id label ... path", separated by tabs, whose labels replace those of the
  // records with these ids.
  std::string path_imglist;
  int64_t batch_size = 1;
  // If true, the last batch is filled with images from the start, which `pad` counts, and the next
  // epoch begins after them. If false, it is filled with zeros, and epochs begin at the start.
  bool round_batch = true;
  bool shuffle = false;              // permutes the images of the part anew in each epoch
  uint64_t seed = 0;                 // of the order
  std::optional<uint64_t> seed_aug;  // of random changes of images; nullopt: `seed`
  int64_t num_parts = 1;
  int64_t part_index = 0;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
};

// Decodes on the threads of ParallelFor (ndarray/threads/parallel.h). Equal options give equal
// batches, whatever the number of threads. The files stay on the disk: memory is one batch and its
// records. Not thread-safe.
class RecordIter : public DataIter {
 public:
  struct Sample {
    absl::string_view image;  // encoded
    absl::Span<const float> labels;
    RandomGenerator& random;  // its numbers depend on the seed and the record's number alone
  };

  // Writes a sample to its row of the batch, which holds zeros. Called from several threads.
  using Decoder = std::function<absl::Status(const Sample& sample, const NDArray& data,
                                             absl::Span<float> label)>;

  // For the iterators' Create functions. `kind` is MXNet's name of the iterator, `label_width` the
  // number of labels of each record; nullopt: any. Open and Describe come before all else.
  RecordIter(std::string kind, RecordIterOptions options, std::optional<int64_t> label_width,
             Decoder decode);

  // In a batch, `index` holds the ids of the records, and -1 for rows of zeros. kDataLoss or
  // kInvalidArgument, with file and offset, for a record that is corrupted, is no image, or has
  // other labels than the options say.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override;
  absl::Status HardReset() override;

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  int64_t batch_size() const override { return options_.batch_size; }
  std::optional<double> invalid_label(absl::string_view) const override { return std::nullopt; }

  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 protected:
  // Opens the files and finds the part; the iterator is then at its start. kInvalidArgument, naming
  // the option or file and line, for options that are not as above, and if the part has no records;
  // also the errors of RecordFiles.
  absl::Status Open();

  // Sets the descriptions of batches, from the shapes of a sample.
  void Describe(const Shape& data, DType dtype, const Shape& label);

  // Returns the largest number of labels: in path_imglist if it is given, else in the records of
  // the part, all of which are read.
  absl::StatusOr<int64_t> FindLabelWidth();

 private:
  // The place of the next record. The images are read in passes over the part; an epoch ends in the
  // pass after its own if its last batch is filled from the start.
  struct Position {
    uint64_t pass = 0;
    int64_t next = 0;      // in order_, or without an index an offset in the files
    bool wrapped = false;  // whether the epoch has ended in the next pass
  };
  struct Record {
    int64_t offset;
    uint64_t number;  // differs in all passes; determines random changes
    std::string bytes;
  };

  absl::Status FindPart();
  void StartPass(uint64_t pass);
  bool has_index() const { return !options_.path_imgidx.empty(); }
  int64_t end() const { return has_index() ? static_cast<int64_t>(offsets_.size()) : end_; }
  absl::StatusOr<std::optional<Record>> ReadRecord();
  absl::StatusOr<std::vector<Record>> ReadRecords(int64_t* pad);
  absl::StatusOr<DataBatch> MakeEmptyBatch() const;
  absl::Status FillBatch(const std::vector<Record>& records, DataBatch* batch) const;
  absl::Status FillRow(const Record& record, int64_t row, DataBatch* batch) const;

  const std::string kind_;
  const RecordIterOptions options_;
  const std::optional<int64_t> label_width_;
  const Decoder decode_;
  RecordFiles files_;
  ImageLabels labels_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  std::vector<int64_t> offsets_;  // of the part's records, with an index
  std::vector<int64_t> order_;    // of this pass: positions in offsets_
  int64_t begin_ = 0, end_ = 0;   // of the part, without an index
  Position position_;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_RECORD_ITER_H_
