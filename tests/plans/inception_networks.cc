#include "tests/plans/inception_networks.h"

#include <vector>

#include "tests/plans/network_draft.h"

namespace cooper {
namespace {

constexpr int kClasses = 1000;

// GoogLeNet's module: 1x1, 1x1 and 3x3, 1x1 and 5x5, pooling and 1x1.
struct GoogLeNetWidths {
  int one, before_three, three, before_five, five, pooled;
};

Symbol ConvRelu(NetworkDraft& d, const Symbol& x, int filters, ConvOptions options) {
  options.bias = true;
  return d.Relu(d.Conv(x, filters, options));
}

Symbol GoogLeNetModule(NetworkDraft& d, const Symbol& x, const GoogLeNetWidths& w) {
  return d.Concat(
      {ConvRelu(d, x, w.one, {}),
       ConvRelu(d, ConvRelu(d, x, w.before_three, {}), w.three, {.kernel = 3, .pad = 1}),
       ConvRelu(d, ConvRelu(d, x, w.before_five, {}), w.five, {.kernel = 5, .pad = 2}),
       ConvRelu(d, d.MaxPool(x, 3, 1, 1), w.pooled, {})});
}

// Inception-BN's module: two 3x3 in place of 5x5.
struct BnWidths {
  int one, before_three, three, before_double, doubled, pooled;
  bool max = false;
};

Symbol BnModule(NetworkDraft& d, const Symbol& x, const BnWidths& w) {
  const ConvOptions three{.kernel = 3, .pad = 1};
  const Symbol pooled = w.max ? d.MaxPool(x, 3, 1, 1) : d.AvgPool(x, 3, 1, 1);
  const Symbol doubled = d.ConvUnit(d.ConvUnit(x, w.before_double), w.doubled, three);
  return d.Concat({d.ConvUnit(x, w.one), d.ConvUnit(d.ConvUnit(x, w.before_three), w.three, three),
                   d.ConvUnit(doubled, w.doubled, three), d.ConvUnit(pooled, w.pooled)});
}

// Returns the module that halves height and width.
Symbol BnReduction(NetworkDraft& d, const Symbol& x, const BnWidths& w) {
  const ConvOptions half{.kernel = 3, .stride = 2, .pad = 1};
  const Symbol doubled =
      d.ConvUnit(d.ConvUnit(x, w.before_double), w.doubled, {.kernel = 3, .pad = 1});
  return d.Concat({d.ConvUnit(d.ConvUnit(x, w.before_three), w.three, half),
                   d.ConvUnit(doubled, w.doubled, half), d.MaxPool(x, 3, 2, 1)});
}

// Applies a 1xn and then an nx1 convolution.
Symbol Rows(NetworkDraft& d, const Symbol& x, int filters, int n) {
  return d.ConvUnit(x, filters, {.kernel = {1, n}, .pad = {0, n / 2}});
}
Symbol Columns(NetworkDraft& d, const Symbol& x, int filters, int n) {
  return d.ConvUnit(x, filters, {.kernel = {n, 1}, .pad = {n / 2, 0}});
}

const ConvOptions kThree{.kernel = 3, .pad = 1};
const ConvOptions kThreeHalf{.kernel = 3, .stride = 2};

// The functions V3FigureN return the modules of figure N in arXiv 1512.00567.
Symbol V3Figure5(NetworkDraft& d, const Symbol& x, int pooled) {
  const Symbol doubled = d.ConvUnit(d.ConvUnit(x, 64), 96, kThree);
  return d.Concat({d.ConvUnit(x, 64), d.ConvUnit(d.ConvUnit(x, 48), 64, {.kernel = 5, .pad = 2}),
                   d.ConvUnit(doubled, 96, kThree), d.ConvUnit(d.AvgPool(x, 3, 1, 1), pooled)});
}

Symbol V3Figure6(NetworkDraft& d, const Symbol& x, int inner) {
  const Symbol twice = Columns(d, Rows(d, d.ConvUnit(x, inner), inner, 7), 192, 7);
  const Symbol half = Rows(d, Columns(d, d.ConvUnit(x, inner), inner, 7), inner, 7);
  return d.Concat({d.ConvUnit(x, 192), twice, Rows(d, Columns(d, half, inner, 7), 192, 7),
                   d.ConvUnit(d.AvgPool(x, 3, 1, 1), 192)});
}

Symbol V3Figure7(NetworkDraft& d, const Symbol& x) {
  const Symbol a = d.ConvUnit(x, 384);
  const Symbol b = d.ConvUnit(d.ConvUnit(x, 448), 384, kThree);
  return d.Concat({d.ConvUnit(x, 320), Rows(d, a, 384, 3), Columns(d, a, 384, 3),
                   Rows(d, b, 384, 3), Columns(d, b, 384, 3),
                   d.ConvUnit(d.AvgPool(x, 3, 1, 1), 192)});
}

// Returns the first layers of Inception-v4 and Inception-ResNet-v2.
Symbol V4Stem(NetworkDraft& d) {
  Symbol x = d.ConvUnit(d.ConvUnit(d.Data(), 32, kThreeHalf), 32, {.kernel = 3});
  x = d.ConvUnit(x, 64, kThree);
  x = d.Concat({d.MaxPool(x, 3, 2), d.ConvUnit(x, 96, kThreeHalf)});
  const Symbol wide = Columns(d, Rows(d, d.ConvUnit(x, 64), 64, 7), 64, 7);
  x = d.Concat(
      {d.ConvUnit(d.ConvUnit(x, 64), 96, {.kernel = 3}), d.ConvUnit(wide, 96, {.kernel = 3})});
  return d.Concat({d.ConvUnit(x, 192, kThreeHalf), d.MaxPool(x, 3, 2)});
}

Symbol V4A(NetworkDraft& d, const Symbol& x) {
  const Symbol doubled = d.ConvUnit(d.ConvUnit(x, 64), 96, kThree);
  return d.Concat({d.ConvUnit(d.AvgPool(x, 3, 1, 1), 96), d.ConvUnit(x, 96),
                   d.ConvUnit(d.ConvUnit(x, 64), 96, kThree), d.ConvUnit(doubled, 96, kThree)});
}

Symbol V4B(NetworkDraft& d, const Symbol& x) {
  const Symbol once = Columns(d, Rows(d, d.ConvUnit(x, 192), 224, 7), 256, 7);
  const Symbol half = Columns(d, Rows(d, d.ConvUnit(x, 192), 192, 7), 224, 7);
  return d.Concat({d.ConvUnit(d.AvgPool(x, 3, 1, 1), 128), d.ConvUnit(x, 384), once,
                   Columns(d, Rows(d, half, 224, 7), 256, 7)});
}

Symbol V4C(NetworkDraft& d, const Symbol& x) {
  const Symbol a = d.ConvUnit(x, 384);
  const Symbol b = Columns(d, Rows(d, d.ConvUnit(x, 384), 448, 3), 512, 3);
  return d.Concat({d.ConvUnit(d.AvgPool(x, 3, 1, 1), 256), d.ConvUnit(x, 256), Rows(d, a, 256, 3),
                   Columns(d, a, 256, 3), Rows(d, b, 256, 3), Columns(d, b, 256, 3)});
}

Symbol V4ReductionA(NetworkDraft& d, const Symbol& x, int k, int l, int m, int n) {
  const Symbol deep = d.ConvUnit(d.ConvUnit(x, k), l, kThree);
  return d.Concat(
      {d.MaxPool(x, 3, 2), d.ConvUnit(x, n, kThreeHalf), d.ConvUnit(deep, m, kThreeHalf)});
}

// Returns x + 0.1 * (a projection of the concatenated branches to the width of x).
Symbol Residual(NetworkDraft& d, const Symbol& x, const std::vector<Symbol>& branches, int width) {
  const Symbol up = d.Conv(d.Concat(branches), width, {.bias = true});
  return d.Relu(d.Add(x, d.Scale(up, 0.1)));
}

}  // namespace

absl::StatusOr<Symbol> GoogLeNet() {
  NetworkDraft d;
  Symbol x = ConvRelu(d, d.Data(), 64, {.kernel = 7, .stride = 2, .pad = 3});
  x = ConvRelu(d, d.MaxPool(x, 3, 2, 0, /*valid=*/false), 64, {});
  x = d.MaxPool(ConvRelu(d, x, 192, kThree), 3, 2, 0, /*valid=*/false);
  x = GoogLeNetModule(d, x, {64, 96, 128, 16, 32, 32});
  x = GoogLeNetModule(d, x, {128, 128, 192, 32, 96, 64});
  x = d.MaxPool(x, 3, 2, 0, /*valid=*/false);
  x = GoogLeNetModule(d, x, {192, 96, 208, 16, 48, 64});
  x = GoogLeNetModule(d, x, {160, 112, 224, 24, 64, 64});
  x = GoogLeNetModule(d, x, {128, 128, 256, 24, 64, 64});
  x = GoogLeNetModule(d, x, {112, 144, 288, 32, 64, 64});
  x = GoogLeNetModule(d, x, {256, 160, 320, 32, 128, 128});
  x = d.MaxPool(x, 3, 2, 0, /*valid=*/false);
  x = GoogLeNetModule(d, x, {256, 160, 320, 32, 128, 128});
  x = GoogLeNetModule(d, x, {384, 192, 384, 48, 128, 128});
  return d.Classify(d.Dropout(d.GlobalPool(x), 0.4), kClasses);
}

absl::StatusOr<Symbol> InceptionBn() {
  NetworkDraft d;
  Symbol x = d.ConvUnit(d.Data(), 64, {.kernel = 7, .stride = 2, .pad = 3});
  x = d.ConvUnit(d.ConvUnit(d.MaxPool(x, 3, 2, 1), 64), 192, kThree);
  x = d.MaxPool(x, 3, 2, 1);
  x = BnModule(d, x, {64, 64, 64, 64, 96, 32});
  x = BnModule(d, x, {64, 64, 96, 64, 96, 64});
  x = BnReduction(d, x, {0, 128, 160, 64, 96, 0});
  x = BnModule(d, x, {224, 64, 96, 96, 128, 128});
  x = BnModule(d, x, {192, 96, 128, 96, 128, 128});
  x = BnModule(d, x, {160, 128, 160, 128, 160, 128});
  x = BnModule(d, x, {96, 128, 192, 160, 192, 128});
  x = BnReduction(d, x, {0, 128, 192, 192, 256, 0});
  x = BnModule(d, x, {352, 192, 320, 160, 224, 128});
  x = BnModule(d, x, {352, 192, 320, 192, 224, 128, /*max=*/true});
  return d.Classify(d.GlobalPool(x), kClasses);
}

absl::StatusOr<Symbol> InceptionV3() {
  NetworkDraft d;
  Symbol x = d.ConvUnit(d.ConvUnit(d.Data(), 32, kThreeHalf), 32, {.kernel = 3});
  x = d.MaxPool(d.ConvUnit(x, 64, kThree), 3, 2);
  x = d.MaxPool(d.ConvUnit(d.ConvUnit(x, 80), 192, {.kernel = 3}), 3, 2);
  for (const int pooled : {32, 64, 64}) x = V3Figure5(d, x, pooled);
  x = d.Concat({d.ConvUnit(x, 384, kThreeHalf),
                d.ConvUnit(d.ConvUnit(d.ConvUnit(x, 64), 96, kThree), 96, kThreeHalf),
                d.MaxPool(x, 3, 2)});
  for (const int inner : {128, 160, 160, 192}) x = V3Figure6(d, x, inner);
  const Symbol wide = Columns(d, Rows(d, d.ConvUnit(x, 192), 192, 7), 192, 7);
  x = d.Concat({d.ConvUnit(d.ConvUnit(x, 192), 320, kThreeHalf), d.ConvUnit(wide, 192, kThreeHalf),
                d.MaxPool(x, 3, 2)});
  for (int i = 0; i < 2; ++i) x = V3Figure7(d, x);
  return d.Classify(d.GlobalPool(x), kClasses);
}

absl::StatusOr<Symbol> InceptionV4() {
  NetworkDraft d;
  Symbol x = V4Stem(d);
  for (int i = 0; i < 4; ++i) x = V4A(d, x);
  x = V4ReductionA(d, x, 192, 224, 256, 384);
  for (int i = 0; i < 7; ++i) x = V4B(d, x);
  const Symbol wide = Columns(d, Rows(d, d.ConvUnit(x, 256), 256, 7), 320, 7);
  x = d.Concat({d.MaxPool(x, 3, 2), d.ConvUnit(d.ConvUnit(x, 192), 192, kThreeHalf),
                d.ConvUnit(wide, 320, kThreeHalf)});
  for (int i = 0; i < 3; ++i) x = V4C(d, x);
  return d.Classify(d.Dropout(d.GlobalPool(x), 0.2), kClasses);
}

absl::StatusOr<Symbol> InceptionResNetV2() {
  NetworkDraft d;
  Symbol x = V4Stem(d);
  for (int i = 0; i < 5; ++i) {
    const Symbol deep = d.ConvUnit(d.ConvUnit(d.ConvUnit(x, 32), 48, kThree), 64, kThree);
    x = Residual(d, x, {d.ConvUnit(x, 32), d.ConvUnit(d.ConvUnit(x, 32), 32, kThree), deep}, 384);
  }
  x = V4ReductionA(d, x, 256, 256, 384, 384);
  for (int i = 0; i < 10; ++i) {
    const Symbol deep = Columns(d, Rows(d, d.ConvUnit(x, 128), 160, 7), 192, 7);
    x = Residual(d, x, {d.ConvUnit(x, 192), deep}, 1152);
  }
  x = d.Concat({d.MaxPool(x, 3, 2), d.ConvUnit(d.ConvUnit(x, 256), 384, kThreeHalf),
                d.ConvUnit(d.ConvUnit(x, 256), 288, kThreeHalf),
                d.ConvUnit(d.ConvUnit(d.ConvUnit(x, 256), 288, kThree), 320, kThreeHalf)});
  for (int i = 0; i < 5; ++i) {
    const Symbol deep = Columns(d, Rows(d, d.ConvUnit(x, 192), 224, 3), 256, 3);
    x = Residual(d, x, {d.ConvUnit(x, 192), deep}, 2144);
  }
  return d.Classify(d.Dropout(d.GlobalPool(x), 0.2), kClasses);
}

}  // namespace cooper
