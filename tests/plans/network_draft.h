#ifndef COOPER_TESTS_PLANS_NETWORK_DRAFT_H_
#define COOPER_TESTS_PLANS_NETWORK_DRAFT_H_

// Builds the layers of image networks with one line each.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Height and width.
struct WindowExtent {
  int height = 1, width = 1;
  WindowExtent(int side) : height(side), width(side) {}  // NOLINT: a number is a square
  WindowExtent(int h, int w) : height(h), width(w) {}
};

struct ConvOptions {
  WindowExtent kernel = 1;
  WindowExtent stride = 1;
  WindowExtent pad = 0;
  int groups = 1;
  bool bias = false;
};

// Builds a network. The first error is kept and returned by Classify; functions may be called after
// it.
class NetworkDraft {
 public:
  Symbol Data();
  Symbol Conv(const Symbol& x, int filters, const ConvOptions& options = {});
  Symbol BatchNorm(const Symbol& x);
  Symbol Relu(const Symbol& x);
  // Applies a convolution, batch normalisation and relu.
  Symbol ConvUnit(const Symbol& x, int filters, const ConvOptions& options = {});
  // Applies max pooling. Without `valid` the last window may reach over the edge: MXNet's
  // pooling_convention "full".
  Symbol MaxPool(const Symbol& x, WindowExtent kernel, WindowExtent stride, WindowExtent pad = 0,
                 bool valid = true);
  Symbol AvgPool(const Symbol& x, WindowExtent kernel, WindowExtent stride, WindowExtent pad = 0);
  Symbol GlobalPool(const Symbol& x);
  Symbol Dense(const Symbol& x, int hidden);  // over all elements of a sample
  Symbol Dropout(const Symbol& x, double p);
  Symbol Tanh(const Symbol& x);
  Symbol Scale(const Symbol& x, double by);
  Symbol Add(const Symbol& a, const Symbol& b);
  Symbol Concat(const std::vector<Symbol>& parts);  // along the channels

  // Adds a classifier of `classes` classes over `x` and returns the network, or the first error.
  absl::StatusOr<Symbol> Classify(const Symbol& x, int classes);

 private:
  Symbol Make(absl::string_view op, const std::vector<Symbol>& inputs, const AttrMap& attrs,
              const std::string& name = "");

  absl::Status status_;
  int made_ = 0;
};

}  // namespace cooper

#endif  // COOPER_TESTS_PLANS_NETWORK_DRAFT_H_
