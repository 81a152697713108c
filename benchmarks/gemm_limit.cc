#include "benchmarks/gemm_limit.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "absl/strings/match.h"
#include "ndarray/products/gemm.h"

namespace cooper {
namespace {

int64_t Gates(const std::string& cell) {
  if (absl::EndsWith(cell, "gru")) return 3;
  return absl::EndsWith(cell, "rnn") ? 1 : 4;
}

int64_t Directions(const LanguageModelOptions& model) { return model.bidirectional ? 2 : 1; }

int64_t OperandSize(const LanguageModelOptions& model, int64_t rows) {
  const int64_t features = Directions(model) * model.num_hidden;
  const int64_t widest = std::max({model.vocab, 4 * model.num_hidden, features, model.num_embed});
  return widest * std::max({rows, features, model.num_embed});
}

}  // namespace

GemmLimit::GemmLimit(const LanguageModelOptions& model, int64_t batch_size, int64_t longest,
                     bool forward_only)
    : model_(model),
      batch_size_(batch_size),
      forward_only_(forward_only),
      a_(OperandSize(model, batch_size * longest), 0.01f),
      b_(a_.size(), 0.01f),
      c_(a_.size()) {}

void GemmLimit::Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k) {
  Gemm(transpose_a, transpose_b, m, n, k, 1.0f, a_.data(), transpose_a ? m : k, b_.data(),
       transpose_b ? k : n, 0.0f, c_.data(), n);
}

void GemmLimit::RunRecurrent(int64_t length, int64_t input) {
  const int64_t rows = batch_size_ * length;
  const int64_t hidden = model_.num_hidden;
  const int64_t gates = Gates(model_.cell) * hidden;
  Multiply(false, true, rows, gates, input);
  for (int64_t t = 0; t < length; ++t) Multiply(false, true, batch_size_, gates, hidden);
  if (forward_only_) return;
  for (int64_t t = 0; t < length; ++t) Multiply(false, false, batch_size_, hidden, gates);
  Multiply(false, false, rows, input, gates);
  Multiply(true, false, gates, input, rows);
  Multiply(true, false, gates, hidden, rows);
}

void GemmLimit::Run(int64_t length) {
  const int64_t rows = batch_size_ * length;
  const int64_t features = Directions(model_) * model_.num_hidden;
  for (int layer = 0; layer < model_.num_layers; ++layer) {
    for (int64_t i = 0; i < Directions(model_); ++i) {
      RunRecurrent(length, layer == 0 ? model_.num_embed : features);
    }
  }
  Multiply(false, true, rows, model_.vocab, features);
  if (forward_only_) return;
  Multiply(false, false, rows, features, model_.vocab);
  Multiply(true, false, model_.vocab, features, rows);
}

double GemmLimit::Seconds(int64_t length, int repeat) {
  Run(length);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    Run(length);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace cooper
