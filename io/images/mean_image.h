#ifndef COOPER_IO_IMAGES_MEAN_IMAGE_H_
#define COOPER_IO_IMAGES_MEAN_IMAGE_H_

// Makes the file of a mean image that does not exist yet, as MXNet's iterators do.

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/data_iter.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// Writes the mean of the images of one epoch, float batches (batch, channels, height, width), as
// MXNet's array "mean_img". The file appears when it is complete. Errors are those of the images
// and of SaveNamedArrays.
absl::Status WriteMeanImage(DataIter& images, const std::string& path);

// Makes the file options.normalize.mean_img unless it exists, or the option is empty: from the
// images of all parts, with the random changes of `options`, not normalized. `Iter` is
// ImageRecordIter or ImageDetRecordIter, `options` are its own. Errors are those of Iter::Create
// and WriteMeanImage.
template <typename Iter, typename Options>
absl::Status MakeMeanImage(Options options) {
  const std::string path = options.normalize.mean_img;
  std::error_code ignored;
  if (path.empty() || std::filesystem::exists(path, ignored)) return absl::OkStatus();
  options.normalize = {};
  options.records.round_batch = options.records.shuffle = false;
  options.records.num_parts = 1;
  options.records.part_index = 0;
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Iter> images, Iter::Create(options));
  return AddContext(WriteMeanImage(*images, path), "mean_img '", path, "'");
}

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_MEAN_IMAGE_H_
