#include "benchmarks/gemm_limit.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "ndarray/gemm.h"

namespace cooper {
namespace {

// Operands large enough for every product; what is in them does not change the time.
class Operands {
 public:
  explicit Operands(int64_t elements) : a_(elements, 0.01f), b_(elements, 0.01f), c_(elements) {}

  void Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k) {
    Gemm(transpose_a, transpose_b, m, n, k, 1.0f, a_.data(), transpose_a ? m : k, b_.data(),
         transpose_b ? k : n, 0.0f, c_.data(), n);
  }

 private:
  std::vector<float> a_, b_, c_;
};

int64_t Gates(const std::string& cell) {
  if (cell == "gru") return 3;
  return cell == "rnn" ? 1 : 4;
}

void RunProducts(Operands& x, const LanguageModelOptions& model, int64_t batch, int64_t length,
                 bool forward_only) {
  const int64_t rows = batch * length;
  const int64_t hidden = model.num_hidden;
  const int64_t gates = Gates(model.cell) * hidden;
  for (int layer = 0; layer < model.num_layers; ++layer) {
    const int64_t input = layer == 0 ? model.num_embed : hidden;
    x.Multiply(false, true, rows, gates, input);
    for (int64_t t = 0; t < length; ++t) x.Multiply(false, true, batch, gates, hidden);
    if (forward_only) continue;
    for (int64_t t = 0; t < length; ++t) x.Multiply(false, false, batch, hidden, gates);
    x.Multiply(false, false, rows, input, gates);
    x.Multiply(true, false, gates, input, rows);
    x.Multiply(true, false, gates, hidden, rows);
  }
  x.Multiply(false, true, rows, model.vocab, hidden);
  if (forward_only) return;
  x.Multiply(false, false, rows, hidden, model.vocab);
  x.Multiply(true, false, model.vocab, hidden, rows);
}

}  // namespace

double GemmLimitSeconds(const LanguageModelOptions& model, int64_t batch_size, int64_t length,
                        bool forward_only, int repeat) {
  const int64_t rows = batch_size * length;
  const int64_t widest = std::max({model.vocab, 4 * model.num_hidden, model.num_embed, int64_t{1}});
  Operands operands(widest * std::max({rows, model.num_hidden, model.num_embed}));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeat + 1; ++i) {  // the first run warms up
    const auto start = std::chrono::steady_clock::now();
    RunProducts(operands, model, batch_size, length, forward_only);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i > 0) best = std::min(best, seconds);
  }
  return best;
}

}  // namespace cooper
