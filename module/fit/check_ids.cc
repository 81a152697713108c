#include "module/fit/check_ids.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "module/evaluate/batch_descs.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The largest number of cached graphs. If every batch has another shape, the cache would grow
// forever.
constexpr size_t kMaxFound = 64;

// An array that a batch gives to a module.
struct Fed {
  NDArray array;
  DataDesc desc;  // the batch's description, else that of Bind
};
using FedArrays = std::map<std::string, Fed>;  // by the name in the module

// Adds the arrays of a batch. Arrays with descriptions are matched by name, others by position. A
// bound name that no description has is also matched by position, as in Module::Forward.
void AddFed(const std::vector<DataDesc>& bound, const std::vector<DataDesc>& provided,
            const std::vector<NDArray>& arrays, FedArrays* fed) {
  const bool described = provided.size() == arrays.size();
  for (size_t i = 0; i < bound.size(); ++i) {
    size_t from = i;
    for (size_t k = 0; k < provided.size() && described; ++k) {
      if (provided[k].name == bound[i].name) from = k;
    }
    if (from >= arrays.size() || arrays[from].is_null()) continue;
    (*fed)[bound[i].name] = {arrays[from], described ? provided[from] : bound[i]};
  }
}

// Tells which elements of an array belong to no sample.
class Gaps {
 public:
  Gaps(const DataBatch& batch, const DataDesc& desc, const Shape& shape)
      : batch_(batch), shape_(shape) {
    if (shape.rank() == 0) return;
    const bool fits = static_cast<int>(desc.layout.size()) == shape.rank();
    const int named = BatchAxis(desc.layout);
    rows_ = named >= 0 && named < shape.rank() ? named : 0;
    const size_t time = fits ? desc.layout.find('T') : std::string::npos;
    steps_ = time != std::string::npos ? static_cast<int>(time) : (rows_ == 0 ? 1 : 0);
    // A layout of another rank does not say where the steps are.
    if (steps_ >= shape.rank() || steps_ == rows_) steps_ = -1;
    samples_by_id_ = static_cast<int64_t>(batch.index.size()) == shape[rows_];
    for (size_t i = 0; samples_by_id_ && i < batch.index.size(); ++i) {
      has_absent_ids_ = has_absent_ids_ || batch.index[i] < 0;
    }
  }

  int64_t RowOf(int64_t element) const { return rows_ < 0 ? 0 : IndexAlong(rows_, element); }

  bool Has(int64_t element) const {
    if (rows_ < 0) return false;
    const int64_t row = RowOf(element);
    // The ids say which rows are padding. If no id is negative, the last `pad` rows are padding.
    if (has_absent_ids_ ? batch_.index[row] < 0 : row >= shape_[rows_] - batch_.pad) return true;
    if (steps_ < 0 || static_cast<int64_t>(batch_.lengths.size()) != shape_[rows_]) return false;
    return IndexAlong(steps_, element) >= batch_.lengths[row];
  }

 private:
  int64_t IndexAlong(int axis, int64_t element) const {
    return element / shape_.Product(axis + 1, shape_.rank()) % shape_[axis];
  }

  const DataBatch& batch_;
  const Shape& shape_;
  int rows_ = -1, steps_ = -1;  // axis of samples and axis of steps; -1: none
  bool samples_by_id_ = false, has_absent_ids_ = false;
};

// Returns whether the element is padding of a label of CTCLoss. value(i) returns element i of the
// labels.
template <typename Value>
bool IsBehindLabel(const IdSource& ids, const std::vector<double>& lengths, int64_t element,
                   Value value) {
  if (ids.row_length == 0) return false;
  const int64_t row = element / ids.row_length, place = element % ids.row_length;
  if (!ids.lengths.empty()) {
    return row < static_cast<int64_t>(lengths.size()) && static_cast<double>(place) >= lengths[row];
  }
  for (int64_t i = row * ids.row_length; i <= element; ++i) {
    if (value(i) == ids.row_end) return true;
  }
  return false;
}

absl::Status WrongId(const IdSource& ids, const Fed& fed, double value, int64_t row) {
  return absl::OutOfRangeError(
      absl::StrCat("'", ids.input, "' ", fed.array.shape().ToString(), " has ", value, " in row ",
                   row, ", expected ids in [0, ", ids.limit, ")",
                   ids.ignored.has_value() ? absl::StrCat(" or ", *ids.ignored) : "", ", ",
                   ids.reader, "; FitOptions::check_ids = false trains on such ids as MXNet does"));
}

// Checks the array of `ids`, which is on the CPU.
absl::Status CheckArray(const IdSource& ids, const FedArrays& fed, const DataBatch& batch,
                        std::optional<double> invalid) {
  const Fed& own = fed.at(ids.input);
  const NDArray& array = own.array;
  std::vector<double> lengths;
  if (!ids.lengths.empty()) {
    COOPER_ASSIGN_OR_RETURN(lengths, fed.at(ids.lengths).array.ToVector<double>());
  }
  const Gaps gaps(batch, own.desc, array.shape());
  const auto is_allowed = [&](int64_t i, double value, auto at) {
    if (invalid.has_value() && value == *invalid) return true;
    if (ids.ignored.has_value() && std::trunc(value) == std::trunc(*ids.ignored)) return true;
    return gaps.Has(i) || IsBehindLabel(ids, lengths, i, at);
  };
  return DispatchDType(array.dtype(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    const T* data = static_cast<const T*>(array.raw_data());
    const auto at = [data](int64_t i) {
      return static_cast<double>(static_cast<ComputeType<T>>(data[i]));
    };
    const auto limit = static_cast<double>(ids.limit);
    const auto check = [&](int64_t i) {
      const double value = at(i);
      return (value > -1 && value < limit) || is_allowed(i, value, at);
    };
    if (ids.elements.has_value()) {
      for (const int64_t i : *ids.elements) {
        if (!check(i)) return WrongId(ids, own, at(i), gaps.RowOf(i));
      }
      return absl::OkStatus();
    }
    for (int64_t i = 0; i < array.size(); ++i) {
      if (!check(i)) return WrongId(ids, own, at(i), gaps.RowOf(i));
    }
    return absl::OkStatus();
  });
}

}  // namespace

const std::vector<IdSource>& IdChecker::SourcesOf(const Symbol& symbol, const KnownShapes& known) {
  std::string shapes;
  for (const auto& [name, shape] : known) absl::StrAppend(&shapes, name, shape.ToString());
  const std::pair<const Node*, std::string> key(symbol.outputs()[0].node.get(), std::move(shapes));
  const auto found = found_.find(key);
  if (found != found_.end()) return found->second.sources;
  if (found_.size() >= kMaxFound) found_.clear();
  KnownShapes of_variables;
  for (const std::string& name : symbol.ListInputs()) {
    const auto shape = known.find(name);
    if (shape != known.end()) of_variables.insert(*shape);
  }
  // With several contexts the shapes of the whole batch may contradict the graph; it then has no
  // ids to check.
  absl::StatusOr<std::vector<IdSource>> sources = FindIdSources(symbol, of_variables);
  Found now{symbol, sources.ok() ? *std::move(sources) : std::vector<IdSource>()};
  return found_.emplace(key, std::move(now)).first->second.sources;
}

absl::Status IdChecker::Check(const DataBatch& batch) {
  bool is_first = true;  // later parts get data that the first one computes
  for (const TrainableModule* part : module_.parts()) {
    const ModuleDescription described = part->description();
    FedArrays fed;
    if (is_first) AddFed(described.data_shapes, batch.provide_data, batch.data, &fed);
    is_first = false;
    AddFed(described.label_shapes, batch.provide_label, batch.label, &fed);
    const absl::StatusOr<Symbol> symbol = part->symbol();
    if (!symbol.ok() || symbol->num_outputs() == 0) continue;
    KnownShapes known;
    for (const DataDesc& desc : described.data_shapes) known[desc.name] = desc.shape;
    for (const auto& [name, own] : fed) known[name] = own.array.shape();
    for (const IdSource& ids : SourcesOf(*symbol, known)) {
      const auto own = fed.find(ids.input);
      if (own == fed.end() || (!ids.lengths.empty() && !fed.contains(ids.lengths))) continue;
      COOPER_ASSIGN_OR_RETURN(own->second.array, OnCpu(own->second.array));
      COOPER_RETURN_IF_ERROR(
          CheckArray(ids, fed, batch, iter_.invalid_label(own->second.desc.name)));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
