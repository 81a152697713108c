#ifndef COOPER_TESTS_MODULE_PARITY_FIXTURES_H_
#define COOPER_TESTS_MODULE_PARITY_FIXTURES_H_

// Networks of the tests that correspond to MXNet's (docs/mxnet_tests.md).

#include <cstdint>
#include <memory>
#include <vector>

#include "module/network/module.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"

namespace cooper {

std::unique_ptr<Module> Make(const Symbol& symbol, ModuleOptions options);

// Returns cpu(0), ..., cpu(n - 1).
std::vector<Context> Cpus(int n);

struct WordsNetOptions {
  int64_t num_words = 20;
  int64_t num_embed = 6;
  int64_t num_hidden = 8;
  int num_layers = 2;
};

// Maps data (batch_size, length) through an embedding and LSTM layers to the words' probabilities,
// a row per position; the label is "softmax_label" (batch_size, length). The embedding has an
// automatic name.
Symbol WordsNet(int length, const WordsNetOptions& options = {});

// Returns data (batch_size, n) -> fc_0 (2) -> act_0 -> fc_1 (2) -> act_1 -> "softmax", a regression
// whose gradient is doubled; label "softmax_label".
Symbol TwoSigmoids();

}  // namespace cooper

#endif  // COOPER_TESTS_MODULE_PARITY_FIXTURES_H_
