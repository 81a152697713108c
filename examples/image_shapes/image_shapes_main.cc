// Trains on images of any shape and prints the accuracy on new ones and the cost of padding. With
// an argument, writes the images' shapes and their buckets as JSON, which tools/charts.py draws.

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "examples/image_shapes/image_shapes.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

std::string Shapes(const ShapedImages& images, const std::vector<BucketKey>& keys) {
  nlohmann::ordered_json json = {{"kind", "pair_map"}, {"axes", {"height", "width"}}};
  // Elements are [height, width, number of images].
  for (const NDArray& image : images.images) {
    json["lengths"].push_back({image.shape()[1], image.shape()[2], 1});
  }
  for (const BucketKey& key : keys) json["buckets"].push_back(key.tuple_value());
  return json.dump() + "\n";
}

absl::Status Run(const std::string& path) {
  COOPER_RETURN_IF_ERROR(CheckOutputFile("", path));
  const ShapedImages images = MakeShapedImages(2000, 1);
  COOPER_ASSIGN_OR_RETURN(auto batches, ImageBatches(images, /*seed=*/1));
  for (const BucketKey& key : batches->bucket_keys()) std::cout << "bucket " << key << "\n";
  const BucketIterReport& report = batches->report();
  std::cout << 100 - 100 * report.tokens / report.padded_tokens << " % padding\n";
  COOPER_ASSIGN_OR_RETURN(auto model, TrainImages(images, 6));
  COOPER_ASSIGN_OR_RETURN(const double accuracy, ImageAccuracy(*model, MakeShapedImages(500, 2)));
  std::cout << 100 * accuracy << " % of new images are told apart\n";
  if (path.empty()) return absl::OkStatus();
  return WriteFileAtomically(path, Shapes(images, batches->bucket_keys()));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
