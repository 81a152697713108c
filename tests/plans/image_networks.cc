#include "tests/plans/image_networks.h"

#include <utility>
#include <vector>

#include "tests/plans/inception_networks.h"
#include "tests/plans/network_draft.h"

namespace cooper {
namespace {

constexpr int kClasses = 1000;

const ConvOptions kStem{.kernel = 7, .stride = 2, .pad = 3};
const ConvOptions kThree{.kernel = 3, .pad = 1};

absl::StatusOr<Symbol> Mlp() {
  NetworkDraft d;
  return d.Classify(d.Relu(d.Dense(d.Relu(d.Dense(d.Data(), 128)), 64)), 10);
}

// Returns the network of LeCun et al., 1998, with tanh and as many filters as MXNet's.
absl::StatusOr<Symbol> LeNet() {
  NetworkDraft d;
  const ConvOptions five{.kernel = 5, .bias = true};
  Symbol x = d.MaxPool(d.Tanh(d.Conv(d.Data(), 20, five)), 2, 2);
  x = d.MaxPool(d.Tanh(d.Conv(x, 50, five)), 2, 2);
  return d.Classify(d.Tanh(d.Dense(x, 500)), 10);
}

Symbol ConvRelu(NetworkDraft& d, const Symbol& x, int filters, ConvOptions options) {
  options.bias = true;
  return d.Relu(d.Conv(x, filters, options));
}

// Returns the network of Krizhevsky et al., 2012, without its normalisation over channels (LRN).
absl::StatusOr<Symbol> AlexNet() {
  NetworkDraft d;
  Symbol x = d.MaxPool(ConvRelu(d, d.Data(), 96, {.kernel = 11, .stride = 4}), 3, 2);
  x = d.MaxPool(ConvRelu(d, x, 256, {.kernel = 5, .pad = 2}), 3, 2);
  x = ConvRelu(d, ConvRelu(d, x, 384, kThree), 384, kThree);
  x = d.MaxPool(ConvRelu(d, x, 256, kThree), 3, 2);
  for (int i = 0; i < 2; ++i) x = d.Dropout(d.Relu(d.Dense(x, 4096)), 0.5);
  return d.Classify(x, kClasses);
}

// Returns a network of Simonyan and Zisserman, arXiv 1409.1556, with `layers` by stage.
absl::StatusOr<Symbol> Vgg(const std::vector<int>& layers) {
  NetworkDraft d;
  Symbol x = d.Data();
  const int widths[] = {64, 128, 256, 512, 512};
  for (size_t stage = 0; stage < layers.size(); ++stage) {
    for (int i = 0; i < layers[stage]; ++i) x = ConvRelu(d, x, widths[stage], kThree);
    x = d.MaxPool(x, 2, 2);
  }
  for (int i = 0; i < 2; ++i) x = d.Dropout(d.Relu(d.Dense(x, 4096)), 0.5);
  return d.Classify(x, kClasses);
}

absl::StatusOr<Symbol> Vgg16() { return Vgg({2, 2, 3, 3, 3}); }
absl::StatusOr<Symbol> Vgg19() { return Vgg({2, 2, 4, 4, 4}); }

// Returns a unit of He et al., arXiv 1603.05027: normalisation and relu before each convolution.
Symbol PreActivationUnit(NetworkDraft& d, const Symbol& x, int filters, int stride, bool same,
                         bool bottleneck) {
  const Symbol active = d.Relu(d.BatchNorm(x));
  const ConvOptions three{.kernel = 3, .stride = stride, .pad = 1};
  Symbol y;
  if (bottleneck) {
    y = d.Conv(d.Relu(d.BatchNorm(d.Conv(active, filters / 4))), filters / 4, three);
    y = d.Conv(d.Relu(d.BatchNorm(y)), filters);
  } else {
    y = d.Conv(d.Relu(d.BatchNorm(d.Conv(active, filters, three))), filters, kThree);
  }
  return d.Add(y, same ? x : d.Conv(active, filters, {.stride = stride}));
}

absl::StatusOr<Symbol> ResNet(const std::vector<int>& units, const std::vector<int>& widths,
                              bool bottleneck, bool small_image, int classes) {
  NetworkDraft d;
  Symbol x = d.BatchNorm(d.Data());
  x = small_image ? d.Conv(x, 16, kThree)
                  : d.MaxPool(d.Relu(d.BatchNorm(d.Conv(x, 64, kStem))), 3, 2, 1);
  for (size_t stage = 0; stage < units.size(); ++stage) {
    for (int i = 0; i < units[stage]; ++i) {
      const int stride = i == 0 && stage > 0 ? 2 : 1;
      x = PreActivationUnit(d, x, widths[stage], stride, i > 0, bottleneck);
    }
  }
  return d.Classify(d.GlobalPool(d.Relu(d.BatchNorm(x))), classes);
}

const std::vector<int> kNarrow{64, 128, 256, 512};
const std::vector<int> kWide{256, 512, 1024, 2048};

absl::StatusOr<Symbol> ResNet20() { return ResNet({3, 3, 3}, {16, 32, 64}, false, true, 10); }
absl::StatusOr<Symbol> ResNet18() { return ResNet({2, 2, 2, 2}, kNarrow, false, false, kClasses); }
absl::StatusOr<Symbol> ResNet34() { return ResNet({3, 4, 6, 3}, kNarrow, false, false, kClasses); }
absl::StatusOr<Symbol> ResNet50() { return ResNet({3, 4, 6, 3}, kWide, true, false, kClasses); }
absl::StatusOr<Symbol> ResNet101() { return ResNet({3, 4, 23, 3}, kWide, true, false, kClasses); }
absl::StatusOr<Symbol> ResNet152() { return ResNet({3, 8, 36, 3}, kWide, true, false, kClasses); }

// Returns the network of He et al., arXiv 1512.03385 (groups = 1), or of Xie et al., arXiv
// 1611.05431: three convolutions per unit, each followed by normalisation, and relu after the sum.
absl::StatusOr<Symbol> PostActivationNet(int groups) {
  NetworkDraft d;
  Symbol x = d.MaxPool(d.ConvUnit(d.Data(), 64, kStem), 3, 2, 1);
  const int units[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int width = kWide[stage], inner = groups > 1 ? width / 2 : width / 4;
    for (int i = 0; i < units[stage]; ++i) {
      const int stride = i == 0 && stage > 0 ? 2 : 1;
      Symbol y = d.ConvUnit(d.ConvUnit(x, inner), inner,
                            {.kernel = 3, .stride = stride, .pad = 1, .groups = groups});
      y = d.BatchNorm(d.Conv(y, width));
      if (i == 0) x = d.BatchNorm(d.Conv(x, width, {.stride = stride}));
      x = d.Relu(d.Add(y, x));
    }
  }
  return d.Classify(d.GlobalPool(x), kClasses);
}

absl::StatusOr<Symbol> ResNetV1() { return PostActivationNet(1); }
absl::StatusOr<Symbol> ResNeXt50() { return PostActivationNet(32); }

// Returns the network of Howard et al., arXiv 1704.04861. The table has width and stride of each
// pair of convolutions.
absl::StatusOr<Symbol> MobileNet() {
  NetworkDraft d;
  Symbol x = d.ConvUnit(d.Data(), 32, {.kernel = 3, .stride = 2, .pad = 1});
  int channels = 32;
  const std::pair<int, int> pairs[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                       {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                       {512, 1}, {1024, 2}, {1024, 1}};
  for (const auto& [width, stride] : pairs) {
    x = d.ConvUnit(x, channels, {.kernel = 3, .stride = stride, .pad = 1, .groups = channels});
    x = d.ConvUnit(x, width);
    channels = width;
  }
  return d.Classify(d.GlobalPool(x), kClasses);
}

// Returns the network of Sandler et al., arXiv 1801.04381, with relu in place of relu6.
absl::StatusOr<Symbol> MobileNetV2() {
  struct Stage {
    int expansion, width, units, stride;
  };
  NetworkDraft d;
  Symbol x = d.ConvUnit(d.Data(), 32, {.kernel = 3, .stride = 2, .pad = 1});
  int channels = 32;
  for (const Stage& s :
       {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
        Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}}) {
    for (int i = 0; i < s.units; ++i) {
      const int stride = i == 0 ? s.stride : 1, inner = channels * s.expansion;
      Symbol y = d.ConvUnit(x, inner);
      y = d.ConvUnit(y, inner, {.kernel = 3, .stride = stride, .pad = 1, .groups = inner});
      y = d.BatchNorm(d.Conv(y, s.width));
      x = stride == 1 && channels == s.width ? d.Add(x, y) : y;
      channels = s.width;
    }
  }
  return d.Classify(d.GlobalPool(d.ConvUnit(x, 1280)), kClasses);
}

// Returns the network of Iandola et al., arXiv 1602.07360, version 1.1.
absl::StatusOr<Symbol> SqueezeNet() {
  NetworkDraft d;
  const auto fire = [&](const Symbol& x, int squeeze, int expand) {
    const Symbol s = ConvRelu(d, x, squeeze, {});
    return d.Concat({ConvRelu(d, s, expand, {}), ConvRelu(d, s, expand, kThree)});
  };
  Symbol x = d.MaxPool(ConvRelu(d, d.Data(), 64, {.kernel = 3, .stride = 2}), 3, 2, 0, false);
  x = d.MaxPool(fire(fire(x, 16, 64), 16, 64), 3, 2, 0, false);
  x = d.MaxPool(fire(fire(x, 32, 128), 32, 128), 3, 2, 0, false);
  x = fire(fire(fire(fire(x, 48, 192), 48, 192), 64, 256), 64, 256);
  return d.Classify(d.GlobalPool(ConvRelu(d, d.Dropout(x, 0.5), kClasses, {})), kClasses);
}

// Returns the network of Huang et al., arXiv 1608.06993: each layer reads all earlier ones.
absl::StatusOr<Symbol> DenseNet121() {
  constexpr int kGrowth = 32;
  NetworkDraft d;
  Symbol x = d.MaxPool(d.ConvUnit(d.Data(), 64, kStem), 3, 2, 1);
  int channels = 64;
  for (const int layers : {6, 12, 24, 16}) {
    if (channels > 64) {
      x = d.AvgPool(d.Conv(d.Relu(d.BatchNorm(x)), channels / 2), 2, 2);
      channels /= 2;
    }
    for (int i = 0; i < layers; ++i) {
      const Symbol y = d.Conv(d.Relu(d.BatchNorm(x)), 4 * kGrowth);
      x = d.Concat({x, d.Conv(d.Relu(d.BatchNorm(y)), kGrowth, kThree)});
    }
    channels += layers * kGrowth;
  }
  return d.Classify(d.GlobalPool(d.Relu(d.BatchNorm(x))), kClasses);
}

}  // namespace

const std::vector<ImageNetwork>& ImageNetworks() {
  static const auto& networks =
      *new std::vector<ImageNetwork>{{"mlp", {1, 28, 28}, Mlp},
                                     {"lenet", {1, 28, 28}, LeNet},
                                     {"alexnet", {3, 224, 224}, AlexNet},
                                     {"vgg-16", {3, 224, 224}, Vgg16},
                                     {"vgg-19", {3, 224, 224}, Vgg19},
                                     {"squeezenet", {3, 224, 224}, SqueezeNet},
                                     {"resnet-20 (28x28)", {3, 28, 28}, ResNet20},
                                     {"resnet-18", {3, 224, 224}, ResNet18},
                                     {"resnet-34", {3, 224, 224}, ResNet34},
                                     {"resnet-50", {3, 224, 224}, ResNet50},
                                     {"resnet-101", {3, 224, 224}, ResNet101},
                                     {"resnet-152", {3, 224, 224}, ResNet152},
                                     {"resnet-v1-50", {3, 224, 224}, ResNetV1},
                                     {"resnext-50", {3, 224, 224}, ResNeXt50},
                                     {"mobilenet", {3, 224, 224}, MobileNet},
                                     {"mobilenet-v2", {3, 224, 224}, MobileNetV2},
                                     {"googlenet", {3, 224, 224}, GoogLeNet},
                                     {"inception-bn", {3, 224, 224}, InceptionBn},
                                     {"inception-v3", {3, 299, 299}, InceptionV3},
                                     {"inception-v4", {3, 299, 299}, InceptionV4},
                                     {"inception-resnet-v2", {3, 299, 299}, InceptionResNetV2},
                                     {"densenet-121", {3, 224, 224}, DenseNet121}};
  return networks;
}

}  // namespace cooper
