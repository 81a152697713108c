#include "io/images/mean_image.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "glog/logging.h"
#include "io/batch/data_batch.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/shape.h"
#include "ndarray/files/params_file.h"

namespace cooper {

absl::Status WriteMeanImage(DataIter& images, const std::string& path) {
  // A path that cannot be written is an error before all images are read.
  COOPER_RETURN_IF_ERROR(AtomicFile::Create(path).status());
  LOG(INFO) << "'" << path << "' does not exist: reads all images to make their mean";
  Shape shape = images.provide_data()[0].shape;
  shape.erase(0);
  const auto size = static_cast<size_t>(shape.num_elements());
  std::vector<double> sums(size);  // of whole numbers: exact
  int64_t count = 0;
  while (true) {
    COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, images.Next());
    if (!batch.has_value()) break;
    const int64_t rows = images.batch_size() - batch->pad;
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const float> pixels, batch->data[0].Data<float>());
    for (int64_t row = 0; row < rows; ++row) {
      const absl::Span<const float> image = pixels.subspan(static_cast<size_t>(row) * size, size);
      for (size_t i = 0; i < size; ++i) sums[i] += static_cast<double>(image[i]);
    }
    count += rows;
  }
  // MXNet multiplies in float too.
  const float share = 1.0f / static_cast<float>(count);
  std::vector<float> mean;
  mean.reserve(size);
  for (const double sum : sums) mean.push_back(static_cast<float>(sum) * share);
  COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector<float>(shape, mean));
  return SaveNamedArrays(path, {{"mean_img", array}});
}

}  // namespace cooper
