// Finds shapes in pictures: an SSD detector that trains on RecordIO files with boxes.
//
//   ssd --draw=scenes --scenes=512    writes pictures, scenes/0.png and so on, and scenes.lst, the
//                                     list of their boxes
//   ssd --train=TRAIN.rec --valid=VALID.rec
//
// tools/im2rec --pack-label makes the records. The last line is the mean average precision.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "examples/images/shapes.h"
#include "io/images/image_det_record_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/mean_average_precision.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/detection.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"

ABSL_FLAG(std::string, draw, "", "a folder to write pictures to");
ABSL_FLAG(int, scenes, 512, "the number of pictures");
ABSL_FLAG(std::string, train, "", "records to train on");
ABSL_FLAG(std::string, valid, "", "records to test on");
ABSL_FLAG(int, epochs, 8, "the number of passes over the records");
ABSL_FLAG(uint64_t, seed, 1, "of the pictures, or of the first weights");
ABSL_FLAG(std::string, save, "", "prefix of files for the network, its first and its last weights");

namespace cooper {
namespace {

constexpr int kSide = 64;
constexpr int kMaxObjects = 3;

// Returns one to kMaxObjects shapes whose boxes do not overlap.
std::vector<DrawnShape> RandomScene(RandomGenerator& random) {
  std::vector<DrawnShape> shapes(1 + random.NextBelow(kMaxObjects));
  for (size_t i = 0; i < shapes.size();) {
    const DrawnShape a = RandomShape(kSide, /*min_side=*/10, /*max_side=*/28, random);
    const bool overlaps = std::any_of(
        shapes.begin(), shapes.begin() + static_cast<std::ptrdiff_t>(i), [&a](const DrawnShape& b) {
          return a.left < b.left + b.width && b.left < a.left + a.width &&
                 a.top < b.top + b.height && b.top < a.top + a.height;
        });
    if (!overlaps) shapes[i++] = a;
  }
  return shapes;
}

// Returns the labels of a list as ImageDetRecordIter reads them: the lengths of this header and of
// an object, and for each object its class and the edges of its box as parts of the picture.
std::string Labels(absl::Span<const DrawnShape> shapes) {
  std::string labels = "2\t5";
  const auto add = [&labels](double number) { absl::StrAppend(&labels, "\t", number); };
  for (const DrawnShape& shape : shapes) {
    add(shape.kind);
    for (const int edge :
         {shape.left, shape.top, shape.left + shape.width, shape.top + shape.height}) {
      add(static_cast<double>(edge) / kSide);
    }
  }
  return labels;
}

absl::Status DrawScenes(const std::filesystem::path& folder, int count, uint64_t seed) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::PermissionDeniedError(absl::StrCat(folder.string(), ": ", error.message()));
  }
  RandomGenerator random(seed);
  std::string list;
  for (int i = 0; i < count; ++i) {
    const std::vector<DrawnShape> shapes = RandomScene(random);
    const std::string name = absl::StrCat(i, ".png");
    COOPER_RETURN_IF_ERROR(WritePng(DrawShapes(kSide, shapes, random), (folder / name).string()));
    absl::StrAppend(&list, i, "\t", Labels(shapes), "\t", name, "\n");
  }
  return WriteFileAtomically(folder.string() + ".lst", list);
}

// Returns batches of the pictures in the order of the records.
absl::StatusOr<std::unique_ptr<ImageDetRecordIter>> Scenes(const std::string& path) {
  return ImageDetRecordIter::Create(
      {.records = {.path_imgrec = path, .batch_size = 8, .label_name = "label"},
       .image = {.data_shape = {3, kSide, kSide}},
       .normalize = {
           .mean_r = 96, .mean_g = 96, .mean_b = 96, .std_r = 64, .std_g = 64, .std_b = 64}});
}

Symbol Convolve(const Symbol& data, int64_t filters, int64_t stride, const std::string& name) {
  const Symbol x = op::Convolution(data, {.kernel = {3, 3},
                                          .stride = {stride, stride},
                                          .pad = {1, 1},
                                          .num_filter = filters,
                                          .no_bias = true,
                                          .name = name});
  return op::Activation(op::BatchNorm(x, {.fix_gamma = false, .name = name + "_bn"}),
                        {.act_type = "relu"});
}

// Predicts `numbers` for each anchor from a map: (batch_size, anchors * numbers).
Symbol Predict(const Symbol& map, int64_t anchors, int64_t numbers, const std::string& name) {
  const Symbol x = op::Convolution(
      map, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = anchors * numbers, .name = name});
  return op::Flatten(op::transpose(x, {.axes = {0, 2, 3, 1}}));
}

// Outputs probabilities of classes (batch_size, kNumShapes + 1, anchors), the loss of boxes,
// detections (batch_size, anchors, 6) and objects (batch_size, objects, 5). The losses are those of
// Liu et al., SSD: Single Shot MultiBox Detector, 2016.
Symbol Detector() {
  // A row of the label: extents of the image and number of labels, 2 lengths, and the objects.
  const Symbol objects = op::Reshape(
      op::slice(Symbol::Variable("label"), {.begin = {0, 6}, .end = {std::nullopt, std::nullopt}}),
      {.shape = {0, -1, 5}});
  Symbol x = Convolve(Symbol::Variable("data"), 16, /*stride=*/2, "conv1");
  x = Convolve(x, 24, /*stride=*/2, "conv2");
  std::vector<Symbol> classes, boxes, anchors;
  const std::vector<std::vector<double>> kSizes = {{0.17, 0.23}, {0.3, 0.36}, {0.42, 0.5}};
  for (size_t i = 0; i < kSizes.size(); ++i) {
    x = Convolve(x, 32, /*stride=*/i == 0 ? 1 : 2, absl::StrCat("map", i));
    const std::vector<double> ratios = {1, 1.5, 0.67};
    const auto per_pixel = static_cast<int64_t>(kSizes[i].size() + ratios.size() - 1);
    classes.push_back(Predict(x, per_pixel, kNumShapes + 1, absl::StrCat("classes", i)));
    boxes.push_back(Predict(x, per_pixel, 4, absl::StrCat("boxes", i)));
    anchors.push_back(op::contrib::MultiBoxPrior(x, {.sizes = kSizes[i], .ratios = ratios}));
  }
  const Symbol anchor = op::Concat(anchors, {.dim = 1});
  const Symbol box = op::Concat(boxes, {.dim = 1});
  const Symbol scores = op::transpose(
      op::Reshape(op::Concat(classes, {.dim = 1}), {.shape = {0, -1, kNumShapes + 1}}),
      {.axes = {0, 2, 1}});
  const Symbol target = op::contrib::MultiBoxTarget(anchor, objects, scores,
                                                    {.negative_mining_ratio = 3, .name = "target"});
  const Symbol probabilities = op::SoftmaxOutput(scores, {.label = target[2],
                                                          .ignore_label = -1,
                                                          .multi_output = true,
                                                          .use_ignore = true,
                                                          .normalization = "valid",
                                                          .name = "classes"});
  const Symbol box_loss = op::MakeLoss(op::smooth_l1(target[1] * (box - target[0])),
                                       {.normalization = "valid", .name = "boxes"});
  const Symbol detections = op::contrib::MultiBoxDetection(probabilities, box, anchor);
  return op::Group({probabilities, box_loss, op::BlockGrad(detections, {.name = "detections"}),
                    op::BlockGrad(objects, {.name = "objects"})});
}

absl::StatusOr<double> Precision(Module& model, DataIter& scenes) {
  const auto metric = MeanAveragePrecision();
  COOPER_RETURN_IF_ERROR(model.IterPredict(
      scenes, [&metric](const std::vector<NDArray>& outputs, int64_t, const DataBatch&) {
        return metric->Update({outputs[3]}, {outputs[2]});
      }));
  return metric->GetNameValue()[0].second;
}

absl::Status Train(const std::string& train_path, const std::string& valid_path, int num_epoch,
                   uint64_t seed, const std::string& prefix) {
  COOPER_ASSIGN_OR_RETURN(const auto train, Scenes(train_path));
  COOPER_ASSIGN_OR_RETURN(const auto valid, Scenes(valid_path));
  COOPER_ASSIGN_OR_RETURN(const auto model, Module::Create(Detector(), {.label_names = {"label"}}));
  const auto loss = Loss({.output_names = {{"boxes_output"}}});
  const FitOptions options = {
      .eval_metric = loss.get(),
      .progress = [](const std::string& line) { std::cout << line << std::endl; },
      // The losses are means already.
      .optimizer = {.optimizer = "adam",
                    .optimizer_params = {{"learning_rate", 0.003}, {"rescale_grad", 1}}},
      .params = {.initializer = init::Xavier()},
      .seed = seed,
      .num_epoch = num_epoch};
  COOPER_RETURN_IF_ERROR(model->BindToFit(*train, options));
  COOPER_RETURN_IF_ERROR(model->InitParams(ParamsOptionsForFit(options)));
  if (!prefix.empty()) COOPER_RETURN_IF_ERROR(model->SaveCheckpoint(prefix, 0));
  COOPER_RETURN_IF_ERROR(model->Fit(*train, options));
  if (!prefix.empty()) COOPER_RETURN_IF_ERROR(model->SaveCheckpoint(prefix, num_epoch));
  COOPER_ASSIGN_OR_RETURN(const double precision, Precision(*model, *valid));
  std::cout << "mAP " << precision << std::endl;
  return absl::OkStatus();
}

absl::Status Run() {
  const uint64_t seed = absl::GetFlag(FLAGS_seed);
  const std::string draw = absl::GetFlag(FLAGS_draw);
  const std::string train = absl::GetFlag(FLAGS_train), valid = absl::GetFlag(FLAGS_valid);
  if (!draw.empty()) return DrawScenes(draw, absl::GetFlag(FLAGS_scenes), seed);
  if (train.empty() || valid.empty()) {
    return absl::InvalidArgumentError("give --draw=FOLDER, or --train=TRAIN.rec --valid=VALID.rec");
  }
  return Train(train, valid, absl::GetFlag(FLAGS_epochs), seed, absl::GetFlag(FLAGS_save));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = cooper::Run();
  if (!status.ok()) std::cerr << "ssd: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
