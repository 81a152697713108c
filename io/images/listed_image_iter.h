#ifndef COOPER_IO_IMAGES_LISTED_IMAGE_ITER_H_
#define COOPER_IO_IMAGES_LISTED_IMAGE_ITER_H_

// The common part of ImageIter and ImageDetIter: batches of images with numbers (image_source.h),
// in the order of an NDArrayIter over these numbers. A function decodes and changes the images.

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
#include "io/images/codec/image.h"
#include "io/images/image_source.h"
#include "io/iterators/ndarray_iter.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/random/random.h"

namespace cooper {

// The names and defaults are MXNet's.
struct ImageBatchOptions {
  int64_t batch_size = 1;
  bool shuffle = false;  // permutes the images of the part anew in each epoch
  LastBatchHandle last_batch_handle = LastBatchHandle::kPad;
  std::string data_name = "data";
  uint64_t seed = DefaultSeed();  // of the order and of random changes
};

// Decodes on the threads of ParallelFor (ndarray/threads/parallel.h). Equal options give equal
// batches, whatever the number of threads. Not thread-safe.
class ListedImageIter : public DataIter {
 public:
  // Returns the image in its final size, and writes its labels, which hold the fill. Called from
  // several threads.
  using Decoder = std::function<absl::StatusOr<AnyImage>(
      const EncodedImage& encoded, RandomGenerator& random, absl::Span<float> label)>;

  // The data and labels of a sample.
  struct SampleDesc {
    Shape data_shape;  // (channels, height, width)
    std::string label_name;
    Shape label_shape;
    DType label_dtype = DType::kFloat32;
    std::optional<float> label_fill;  // the value of labels that a decoder does not write
  };

  // For the iterators' Create functions. `kind` is MXNet's name of the iterator. Start comes before
  // all else.
  ListedImageIter(std::string kind, ImageBatchOptions options, ImageSource source,
                  SampleDesc sample, Decoder decode);

  // In a batch, `index` holds the ids of the images. Errors name the image's file, and offset.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override { return order_->Reset(); }
  absl::Status HardReset() override { return order_->HardReset(); }
  UnusedSamples unused_samples() const override { return order_->unused_samples(); }

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  int64_t batch_size() const override { return options_.batch_size; }
  std::optional<double> invalid_label(absl::string_view) const override {
    return sample_.label_fill;
  }

  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 protected:
  // Begins the first epoch. kInvalidArgument if batch_size is below 1.
  absl::Status Start();

 private:
  // Adds data and labels of the images whose numbers are in `index`, and replaces these by ids.
  absl::Status Fill(DataBatch* batch);

  const std::string kind_;
  const ImageBatchOptions options_;
  ImageSource source_;
  const SampleDesc sample_;
  const Decoder decode_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  std::unique_ptr<NDArrayIter> order_;  // over the numbers of the images
  uint64_t batches_ = 0;                // so far; with the row they choose random changes
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_LISTED_IMAGE_ITER_H_
