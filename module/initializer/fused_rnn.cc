#include "module/initializer/fused_rnn.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/initializer/create_initializer.h"
#include "module/initializer/initializer_registry.h"
#include "module/initializer/json_number.h"
#include "ndarray/base/status_macros.h"

namespace cooper::init {
namespace {

// Returns the names of the gates, in the order of the packed vector.
const std::map<std::string, std::vector<std::string>>& Gates() {
  static const auto* const gates = new std::map<std::string, std::vector<std::string>>{
      {"rnn_relu", {""}},
      {"rnn_tanh", {""}},
      {"lstm", {"_i", "_f", "_c", "_o"}},
      {"gru", {"_r", "_z", "_o"}},
  };
  return *gates;
}

class FusedRnnInitializer : public NamePatternInitializer {
 public:
  explicit FusedRnnInitializer(FusedRnnOptions options) : options_(std::move(options)) {}

  absl::Status FillWeight(const InitDesc& desc, const NDArray& values,
                          uint64_t seed) const override {
    COOPER_ASSIGN_OR_RETURN(const int64_t input_size, InputSize(desc, values));
    // The gates of two cells have equal names; the name of the whole vector makes their values
    // differ.
    Packing packing = {.desc = desc, .values = values, .seed = seed ^ RandomStreamOf(desc.name)};
    for (const char* kind : {"weight", "bias"}) {
      for (int64_t layer = 0; layer < options_.num_layers; ++layer) {
        for (const char* direction : {"l", "r"}) {
          if (*direction == 'r' && !options_.bidirectional) continue;
          const int64_t width =
              layer == 0 ? input_size : options_.num_hidden * (options_.bidirectional ? 2 : 1);
          for (const auto& [group, columns] :
               {std::pair("i2h", width), std::pair("h2h", options_.num_hidden)}) {
            for (const std::string& gate : Gates().at(options_.mode)) {
              const std::string name = absl::StrCat(direction, layer, "_", group, gate, "_", kind);
              const bool is_weight = *kind == 'w';
              COOPER_RETURN_IF_ERROR(FillPart(
                  name, is_weight ? columns : 1,
                  is_weight ? Shape{options_.num_hidden, columns} : Shape{options_.num_hidden},
                  &packing));
            }
          }
        }
      }
    }
    return absl::OkStatus();
  }

  std::string Dumps() const override {
    std::string init = "null";
    if (options_.init != nullptr) {
      const std::string inner = options_.init->Dumps();
      if (inner.empty()) return "";
      init = absl::StrCat("\"", absl::CEscape(inner), "\"");
    }
    return absl::StrCat("[\"fusedrnn\", {\"init\": ", init,
                        ", \"num_hidden\": ", options_.num_hidden,
                        ", \"num_layers\": ", options_.num_layers, ", \"mode\": \"", options_.mode,
                        "\", \"bidirectional\": ", options_.bidirectional ? "true" : "false",
                        ", \"forget_bias\": ", JsonNumber(options_.forget_bias), "}]");
  }

 private:
  struct Packing {
    const InitDesc& desc;
    const NDArray& values;
    const uint64_t seed;
    int64_t offset = 0;  // where the next part begins
  };

  // Returns the input size: the elements that remain without the upper layers and the biases belong
  // to the first layer.
  absl::StatusOr<int64_t> InputSize(const InitDesc& desc, const NDArray& values) const {
    const int64_t directions = options_.bidirectional ? 2 : 1;
    const auto gates = static_cast<int64_t>(Gates().at(options_.mode).size());
    const int64_t hidden = options_.num_hidden;
    const int64_t rows = directions * gates * hidden;  // of all gates of one layer
    const int64_t upper = (options_.num_layers - 1) * (directions * hidden + hidden + 2);
    const int64_t input_size = values.size() / rows - upper - hidden - 2;
    if (values.shape().rank() != 1 || values.size() % rows != 0 || input_size < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "initializer fusedrnn: '", desc.name, "' is ", values.shape().ToString(),
          ", not the length of ", options_.num_layers, " ", options_.mode, " layers of ", hidden,
          options_.bidirectional ? " in both directions" : "", " for any input size"));
    }
    return input_size;
  }

  absl::Status FillPart(const std::string& name, int64_t columns, const Shape& shape,
                        Packing* packing) const {
    const int64_t begin = packing->offset;
    packing->offset += options_.num_hidden * columns;
    COOPER_ASSIGN_OR_RETURN(const NDArray slice, packing->values.Slice(begin, packing->offset));
    COOPER_ASSIGN_OR_RETURN(const NDArray part, slice.Reshape(shape));
    if (options_.mode == "lstm" && absl::EndsWith(name, "_f_bias")) {
      return part.Fill(options_.forget_bias);
    }
    const Initializer* const init =
        options_.init == nullptr ? packing->desc.global_init : options_.init.get();
    if (init == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializer fusedrnn: '", packing->desc.name,
                       "' needs an initializer for its weights: neither init nor global_init"));
    }
    return init->Init({.name = name, .attrs = {}, .global_init = packing->desc.global_init}, part,
                      packing->seed);
  }

  const FusedRnnOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NamePatternInitializer>> FusedRnn(FusedRnnOptions options) {
  if (Gates().count(options.mode) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("initializer fusedrnn: mode is '", options.mode,
                     "', expected 'rnn_relu', 'rnn_tanh', 'lstm' or 'gru'"));
  }
  if (options.num_hidden < 1 || options.num_layers < 1) {
    return absl::InvalidArgumentError(absl::StrCat("initializer fusedrnn: num_hidden is ",
                                                   options.num_hidden, ", num_layers ",
                                                   options.num_layers, ", expected at least 1"));
  }
  return std::make_unique<FusedRnnInitializer>(std::move(options));
}

namespace {

// The options as keyword arguments, with `init` in the text form of the attribute.
struct FusedRnnKwargs {
  FusedRnnOptions options;
  std::optional<std::string> init;
};

absl::StatusOr<std::unique_ptr<NamePatternInitializer>> FusedRnnFrom(FusedRnnKwargs& kwargs) {
  if (kwargs.init.has_value()) {
    COOPER_ASSIGN_OR_RETURN(kwargs.options.init, CreateInitializerFromText(*kwargs.init));
  }
  return FusedRnn(std::move(kwargs.options));
}

const bool kRegistered =
    Initializers().Add<FusedRnnKwargs>({"fusedrnn"}, FusedRnnFrom, [](auto& d) {
      using Options = FusedRnnOptions;
      d.Field("init", &FusedRnnKwargs::init);
      d.Field("num_hidden", &FusedRnnKwargs::options, &Options::num_hidden).Required();
      d.Field("num_layers", &FusedRnnKwargs::options, &Options::num_layers).Required();
      d.Field("mode", &FusedRnnKwargs::options, &Options::mode).Required();
      d.Field("bidirectional", &FusedRnnKwargs::options, &Options::bidirectional);
      d.Field("forget_bias", &FusedRnnKwargs::options, &Options::forget_bias);
    });

}  // namespace
}  // namespace cooper::init
