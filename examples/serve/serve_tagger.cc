#include "examples/serve/serve_tagger.h"

#include <chrono>
#include <utility>
#include <vector>

#include "examples/tagger/tagger.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::shared_ptr<const Predictor>> TaggerPredictor() {
  COOPER_ASSIGN_OR_RETURN(const auto model, TrainTagger(MakeTaggedSentences(1000, 1), 8));
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, model->GetParams());
  // The predictor copies the parameters, since the model is destroyed.
  return Predictor::Create(
      [](const BucketKey& key) -> absl::StatusOr<Symbol> { return TaggerNetwork(key).symbol; },
      params.args, params.auxs);
}

absl::StatusOr<std::unique_ptr<PredictServer>> ServeTagger(const PredictServerOptions& options) {
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<const Predictor> predictor, TaggerPredictor());
  const std::vector<RequestInput> inputs = {{.name = "data", .shape = {kUnknownDim}}};
  COOPER_ASSIGN_OR_RETURN(
      std::shared_ptr<RequestBatcher> batcher,
      RequestBatcher::Create(std::move(predictor), {.inputs = inputs,
                                                    .lengths = {5, 10, 15},
                                                    .length_name = "length",
                                                    .max_batch_size = 16,
                                                    .max_delay = std::chrono::milliseconds(2)}));
  return PredictServer::Start(std::move(batcher), inputs, options);
}

}  // namespace cooper
