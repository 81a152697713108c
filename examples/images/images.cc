// Tells shapes apart in pictures that come from RecordIO files.
//
//   images draw FOLDER              writes pictures, FOLDER/train/disc/0.png and so on
//   images train TRAIN.rec VALID.rec
//
// tools/im2rec makes the records of the pictures. They are read while the network trains.

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "examples/images/shapes.h"
#include "io/images/image_record_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

constexpr int kSide = 40;  // of a picture; the network sees a part with sides of kCrop
constexpr int kCrop = 32;
constexpr int kNumEpochs = 12;

// Writes pictures with one shape each, those of a kind into a folder of its own.
absl::Status DrawPictures(const std::filesystem::path& folder, int count, uint64_t seed) {
  RandomGenerator random(seed);
  for (const char* name : kShapeNames) {
    std::error_code error;
    std::filesystem::create_directories(folder / name, error);
    if (error) {
      return absl::PermissionDeniedError(
          absl::StrCat((folder / name).string(), ": ", error.message()));
    }
  }
  for (int i = 0; i < count; ++i) {
    const DrawnShape shape = RandomShape(kSide, /*min_side=*/12, /*max_side=*/24, random);
    const auto path = folder / kShapeNames[shape.kind] / absl::StrCat(i, ".png");
    COOPER_RETURN_IF_ERROR(WritePng(DrawShapes(kSide, {shape}, random), path.string()));
  }
  return absl::OkStatus();
}

// Returns batches of the pictures, with random crops and mirrors in a new order if `train`.
absl::StatusOr<std::unique_ptr<ImageRecordIter>> Batches(const std::string& path, bool train) {
  const std::string index = std::filesystem::path(path).replace_extension(".idx").string();
  return ImageRecordIter::Create(
      {.records = {.path_imgrec = path,
                   .path_imgidx = index,
                   .batch_size = 32,
                   .shuffle = train,
                   .seed = 1},
       .image = {.data_shape = {3, kCrop, kCrop}, .rand_crop = train, .rand_mirror = train},
       .normalize = {.mean_r = 96, .mean_g = 96, .mean_b = 96, .scale = 1 / 64.0F}});
}

// Maps data (batch_size, 3, kCrop, kCrop) to probabilities (batch_size, kNumShapes).
Symbol Network() {
  Symbol x = Symbol::Variable("data");
  for (const int filters : {8, 16, 32}) {
    const std::string name = absl::StrCat("conv", filters);
    x = op::Convolution(x, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = filters, .name = name});
    x = op::Pooling(op::Activation(x, {.act_type = "relu"}),
                    {.kernel = {2, 2}, .stride = {2, 2}, .pool_type = "max"});
  }
  return op::SoftmaxOutput(op::FullyConnected(x, {.num_hidden = kNumShapes, .name = "classes"}),
                           {.name = "softmax"});
}

absl::Status Train(const std::string& train_path, const std::string& valid_path) {
  COOPER_ASSIGN_OR_RETURN(const auto train, Batches(train_path, true));
  COOPER_ASSIGN_OR_RETURN(const auto valid, Batches(valid_path, false));
  COOPER_ASSIGN_OR_RETURN(const auto model, Module::Create(Network()));
  const auto accuracy = Accuracy();
  return model->Fit(
      *train, {.eval_data = valid.get(),
               .eval_metric = accuracy.get(),
               .progress = [](const std::string& line) { std::cout << line << std::endl; },
               .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.003}}},
               .params = {.initializer = init::Xavier()},
               .seed = 1,
               .num_epoch = kNumEpochs});
}

absl::Status Run(const std::vector<std::string>& args) {
  if (args.size() == 2 && args[0] == "draw") {
    const std::filesystem::path folder = args[1];
    COOPER_RETURN_IF_ERROR(DrawPictures(folder / "train", 2000, /*seed=*/1));
    return DrawPictures(folder / "valid", 500, /*seed=*/2);
  }
  if (args.size() == 3 && args[0] == "train") return Train(args[1], args[2]);
  return absl::InvalidArgumentError("expected draw FOLDER, or train TRAIN.rec VALID.rec");
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run({argv + 1, argv + argc});
  if (!status.ok()) std::cerr << "images: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
