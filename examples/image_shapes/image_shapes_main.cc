// Trains on images of any shape and prints the accuracy on new ones and the cost of padding. With
// an argument, writes a picture (SVG) of the images' shapes and their buckets to that file.

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "examples/image_shapes/image_shapes.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"
#include "tools/html_page.h"
#include "tools/length_axis.h"
#include "tools/output_file.h"
#include "tools/svg_pair_map.h"

namespace cooper {
namespace {

std::string Picture(const ShapedImages& images, const std::vector<BucketKey>& keys) {
  std::vector<int64_t> heights, widths;
  for (const NDArray& image : images.images) {
    heights.push_back(image.shape()[1]);
    widths.push_back(image.shape()[2]);
  }
  std::vector<std::pair<int64_t, int64_t>> buckets;
  buckets.reserve(keys.size());
  for (const BucketKey& key : keys) {
    buckets.emplace_back(key.tuple_value()[0], key.tuple_value()[1]);
  }
  return SvgFile(SvgPairMap(heights, MakeLengthAxis(heights, 60), widths,
                            MakeLengthAxis(widths, 60), buckets, "height", "width"));
}

absl::Status Run(const std::string& picture) {
  COOPER_RETURN_IF_ERROR(CheckOutputFile("", picture));
  const ShapedImages images = MakeShapedImages(2000, 1);
  COOPER_ASSIGN_OR_RETURN(auto batches, ImageBatches(images, /*seed=*/1));
  for (const BucketKey& key : batches->bucket_keys()) std::cout << "bucket " << key << "\n";
  const BucketIterReport& report = batches->report();
  std::cout << 100 - 100 * report.tokens / report.padded_tokens << " % padding\n";
  COOPER_ASSIGN_OR_RETURN(auto model, TrainImages(images, 6));
  COOPER_ASSIGN_OR_RETURN(const double accuracy, ImageAccuracy(*model, MakeShapedImages(500, 2)));
  std::cout << 100 * accuracy << " % of new images are told apart\n";
  if (picture.empty()) return absl::OkStatus();
  return WriteFileAtomically(picture, Picture(images, batches->bucket_keys()));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
