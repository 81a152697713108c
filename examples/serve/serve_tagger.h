#ifndef COOPER_EXAMPLES_SERVE_SERVE_TAGGER_H_
#define COOPER_EXAMPLES_SERVE_SERVE_TAGGER_H_

// Trains the tagger (examples/tagger) and serves it.

#include <memory>

#include "absl/status/statusor.h"
#include "examples/serve/serve.h"
#include "module/predict/predictor.h"

namespace cooper {

// Returns a predictor that is trained on 1,000 generated sentences.
absl::StatusOr<std::shared_ptr<const Predictor>> TaggerPredictor();

// Starts its server: "data" is the word ids of a sentence, the output (words, 4) the probability of
// each tag for each word.
absl::StatusOr<std::unique_ptr<PredictServer>> ServeTagger(const PredictServerOptions& options);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_SERVE_TAGGER_H_
