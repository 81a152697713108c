#ifndef COOPER_TESTS_PLANS_INCEPTION_NETWORKS_H_
#define COOPER_TESTS_PLANS_INCEPTION_NETWORKS_H_

// Networks whose layers have several parallel branches (image_networks.h).

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns the network of Szegedy et al., arXiv 1409.4842.
absl::StatusOr<Symbol> GoogLeNet();
// Returns the network of Ioffe and Szegedy, arXiv 1502.03167.
absl::StatusOr<Symbol> InceptionBn();
// Returns the network of Szegedy et al., arXiv 1512.00567.
absl::StatusOr<Symbol> InceptionV3();
// Return the networks of Szegedy et al., arXiv 1602.07261: Inception-v4 and Inception-ResNet-v2.
absl::StatusOr<Symbol> InceptionV4();
absl::StatusOr<Symbol> InceptionResNetV2();

}  // namespace cooper

#endif  // COOPER_TESTS_PLANS_INCEPTION_NETWORKS_H_
