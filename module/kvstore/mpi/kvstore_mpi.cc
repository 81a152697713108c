#include "module/kvstore/mpi/kvstore_mpi.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Numbers of key sets that mean the same on all processes: no keys, and a set that is not known to
// all.
constexpr uint64_t kNoKeys = 0;
constexpr uint64_t kUnknown = ~uint64_t{0};
constexpr char kOnGpus[] = " gpu";

// Returns a description such as "2,3 float32", with " gpu" for a key that is summed on GPUs.
std::string SpecOf(const NDArray& array, bool on_gpus) {
  return absl::StrCat(absl::StrJoin(array.shape().dims(), ","), " ", DTypeName(array.dtype()),
                      on_gpus ? kOnGpus : "");
}

absl::StatusOr<NDArray> FromSpec(const std::string& spec, Context context) {
  const std::vector<std::string> parts = absl::StrSplit(spec, ' ');
  if (parts.size() != 2 && parts.size() != 3)
    return absl::InternalError("kvstore: bad description of a key");
  COOPER_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(parts[1]));
  std::vector<int64_t> dims;
  for (const auto part : absl::StrSplit(parts[0], ',', absl::SkipEmpty())) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim)) return absl::InternalError("kvstore: bad shape of a key");
    dims.push_back(dim);
  }
  return NDArray::Zeros(Shape(dims), dtype, context);
}

// Sets `parts` to views for arrays like `values`, one after the other: of `flat64` for float64, of
// `flat32` for others.
absl::Status PartsOf(absl::Span<const NDArray> values, const NDArray& flat32, const NDArray& flat64,
                     std::vector<NDArray>* parts) {
  parts->clear();
  int64_t used[2] = {};
  for (const NDArray& value : values) {
    const bool wide = value.dtype() == DType::kFloat64;
    const int64_t begin = used[wide];
    used[wide] += value.size();
    COOPER_ASSIGN_OR_RETURN(const NDArray place, (wide ? flat64 : flat32).Slice(begin, used[wide]));
    COOPER_ASSIGN_OR_RETURN(parts->emplace_back(), place.Reshape(value.shape()));
  }
  return absl::OkStatus();
}

// Returns a view of the first `size` elements of `buffer`, which grows if necessary.
absl::StatusOr<NDArray> Room(int64_t size, DType dtype, NDArray* buffer) {
  if (buffer->is_null() || buffer->size() < size) {
    COOPER_ASSIGN_OR_RETURN(*buffer, NDArray::Empty(Shape({size}), dtype));
  }
  return buffer->Slice(0, size);
}

}  // namespace

absl::Status KVStoreMpi::Init(const std::string& key, const NDArray& value) {
  COOPER_RETURN_IF_ERROR(CheckNew(key));
  // Copied, so that the caller's array stays unchanged if another process's value counts.
  COOPER_ASSIGN_OR_RETURN(const NDArray copy, value.Copy());
  return InitAll({KVItem{.key = key, .weights = {copy}, .grads = {}, .outs = {}}});
}

absl::Status KVStoreMpi::Push(const std::string& key, absl::Span<const NDArray> values) {
  COOPER_RETURN_IF_ERROR(Find(key, values).status());
  return Exchange(
      {key},
      {KVItem{.key = key, .weights = {}, .grads = {values.begin(), values.end()}, .outs = {}}});
}

const KVItem* KVStoreMpi::ItemOf(absl::Span<const KVItem> items, const std::string& key) {
  const auto it = std::find_if(items.begin(), items.end(),
                               [&key](const KVItem& item) { return item.key == key; });
  return it == items.end() ? nullptr : &*it;
}

// Keys contain no line ends: they are names of arguments.
std::string KVStoreMpi::TextOf(absl::Span<const KVItem> items) {
  std::vector<std::string> lines;
  for (const KVItem& item : items) {
    lines.push_back(absl::StrCat(item.key, "\t", SpecOf(item.weights[0], IsOnGpus(item.weights))));
  }
  return absl::StrJoin(lines, "\n");
}

uint64_t KVStoreMpi::NumberOf(const std::string& text) const {
  if (text.empty()) return kNoKeys;
  const auto it = numbers_.find(text);
  return it == numbers_.end() ? kUnknown : it->second;
}

absl::Status KVStoreMpi::Agree(const std::string& text, absl::Span<const KVItem> items) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> texts, world_.AllGatherText(text));
  // All texts are read and compared before anything is changed, so that all processes fail alike.
  std::map<std::string, std::pair<std::string, int>> new_keys;  // description and lowest rank
  std::vector<std::vector<std::string>> sets(texts.size());
  for (int rank = 0; rank < world_.size(); ++rank) {
    for (const auto line : absl::StrSplit(texts[rank], '\n', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(line, '\t');
      const auto& [key, spec] = parts;
      sets[rank].push_back(key);
      const auto value = values_.find(key);
      const std::string expected =
          value == values_.end() ? new_keys.emplace(key, std::pair(spec, rank)).first->second.first
                                 : SpecOf(value->second, HasValueOnGpu(key));
      if (spec == expected) continue;
      return absl::InvalidArgumentError(absl::StrCat("kvstore: key '", key, "' is ", spec,
                                                     " on rank ", rank, ", expected ", expected));
    }
  }
  COOPER_RETURN_IF_ERROR(CheckGpus(texts));
  for (const auto& [key, from] : new_keys) {
    COOPER_RETURN_IF_ERROR(InitFrom(from.second, key, from.first, items));
  }
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (NumberOf(texts[rank]) != kUnknown) continue;
    numbers_[texts[rank]] = key_sets_.size() + 1;
    key_sets_.push_back(std::move(sets[rank]));
  }
  return absl::OkStatus();
}

absl::Status KVStoreMpi::InitFrom(int root, const std::string& key, const std::string& spec,
                                  absl::Span<const KVItem> items) {
  NDArray value;
  const KVItem* item = ItemOf(items, key);
  const bool on_gpus = absl::EndsWith(spec, kOnGpus);
  const bool takes =
      item != nullptr && (TakesArray(item->weights[0]) || (on_gpus && updater_ != nullptr));
  if (takes) {
    value = item->weights[0];
  } else {
    COOPER_ASSIGN_OR_RETURN(value, FromSpec(spec, on_gpus ? gpus_[0] : Context::Cpu()));
    if (root == world_.rank()) COOPER_RETURN_IF_ERROR(value.CopyFrom(item->weights[0]));
  }
  NDArray sent = value;
  if (on_gpus) {
    COOPER_ASSIGN_OR_RETURN(sent, value.CopyTo(Context::Cpu()));
  }
  COOPER_RETURN_IF_ERROR(world_.Broadcast(sent.raw_data(), sent.size_bytes(), root));
  if (on_gpus) COOPER_RETURN_IF_ERROR(value.CopyFrom(sent));
  values_[key] = value;
  if (item != nullptr) COOPER_RETURN_IF_ERROR(Pull(key, item->weights));
  return absl::OkStatus();
}

absl::Status KVStoreMpi::InitAll(absl::Span<const KVItem> items) {
  return Agree(TextOf(items), items);
}

absl::StatusOr<KVStepInfo> KVStoreMpi::Step(absl::Span<const KVItem> items, bool active) {
  const std::string text = TextOf(items);
  const uint64_t header[] = {active, static_cast<uint64_t>(requested_stop_), NumberOf(text),
                             static_cast<uint64_t>(announced_state_.first),
                             static_cast<uint64_t>(announced_state_.second)};
  COOPER_ASSIGN_OR_RETURN(const std::vector<uint64_t> all, world_.AllGather(header));
  KVStepInfo info{.active_workers = 0, .others = {}};
  std::vector<uint64_t> numbers;
  numbers.reserve(static_cast<size_t>(world_.size()));
  bool unknown = false;
  bool all_have_it = announced_state_ != kNoState;
  for (size_t at = 0; at < all.size(); at += std::size(header)) {
    info.active_workers += static_cast<int>(all[at]);
    stop_ = std::max(stop_, static_cast<StopReason>(all[at + 1]));
    numbers.push_back(all[at + 2]);
    unknown = unknown || numbers.back() == kUnknown;
    all_have_it = all_have_it && all[at + 3] == header[3] && all[at + 4] == header[4];
  }
  if (all_have_it) common_state_ = announced_state_;
  if (unknown) {
    COOPER_RETURN_IF_ERROR(Agree(text, items));
    const uint64_t number[] = {NumberOf(text)};
    COOPER_ASSIGN_OR_RETURN(numbers, world_.AllGather(number));
  }
  const std::vector<std::string> keys = KeysOf(numbers);
  if (keys.empty()) return info;
  COOPER_RETURN_IF_ERROR(Exchange(keys, items));
  std::set<std::string> others(keys.begin(), keys.end());
  for (const KVItem& item : items) {
    if (!HasValueOnGpu(item.key)) COOPER_RETURN_IF_ERROR(Pull(item.key, item.outs));
    others.erase(item.key);
  }
  info.others.assign(others.begin(), others.end());
  return info;
}

std::vector<std::string> KVStoreMpi::KeysOf(const std::vector<uint64_t>& numbers) const {
  std::set<uint64_t> sets(numbers.begin(), numbers.end());
  sets.erase(kNoKeys);
  if (sets.size() == 1) return key_sets_[*sets.begin() - 1];
  std::set<std::string> keys;
  for (const uint64_t number : sets) {
    const std::vector<std::string>& set = key_sets_[number - 1];
    keys.insert(set.begin(), set.end());
  }
  return {keys.begin(), keys.end()};
}

absl::Status KVStoreMpi::Exchange(const std::vector<std::string>& keys,
                                  absl::Span<const KVItem> items) {
  std::vector<std::string> on_gpus, in_memory;
  for (const std::string& key : keys) (HasValueOnGpu(key) ? on_gpus : in_memory).push_back(key);
  if (!on_gpus.empty()) COOPER_RETURN_IF_ERROR(ExchangeOnGpus(on_gpus, items));
  return in_memory.empty() ? absl::OkStatus() : ExchangeInMemory(in_memory, items);
}

// Gradients are laid out one after the other, float64 ones separately, so that a step needs one sum
// of each dtype.
absl::Status KVStoreMpi::ExchangeInMemory(const std::vector<std::string>& keys,
                                          absl::Span<const KVItem> items) {
  std::vector<NDArray> values;
  int64_t sizes[2] = {};  // of float32 and the 16-bit floats, of float64
  for (const std::string& key : keys) {
    values.push_back(values_.at(key));
    sizes[values.back().dtype() == DType::kFloat64] += values.back().size();
  }
  NDArray flat32;
  if (compression_.has_value()) {
    COOPER_ASSIGN_OR_RETURN(flat32, Room(sizes[0], DType::kFloat32, &decompressed_));
  } else {
    COOPER_ASSIGN_OR_RETURN(flat32, sum_buffer_.Reserve(sizes[0]));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray flat64, Room(sizes[1], DType::kFloat64, &flat64_));
  std::vector<NDArray> parts;
  COOPER_RETURN_IF_ERROR(PartsOf(values, flat32, flat64, &parts));
  for (size_t i = 0; i < keys.size(); ++i) {
    const NDArray& value = values[i];
    const KVItem* item = ItemOf(items, keys[i]);
    if (item == nullptr) {
      COOPER_RETURN_IF_ERROR(parts[i].Fill(0));
    } else if (item->grads[0].dtype() == parts[i].dtype()) {
      COOPER_RETURN_IF_ERROR(SumArrays(item->grads, parts[i]));
    } else {
      COOPER_ASSIGN_OR_RETURN(const NDArray sum, NDArray::Empty(value.shape(), value.dtype()));
      COOPER_RETURN_IF_ERROR(SumArrays(item->grads, sum));
      COOPER_RETURN_IF_ERROR(parts[i].CopyFrom(sum));
    }
  }
  COOPER_ASSIGN_OR_RETURN(const absl::Span<double> values64, flat64.Data<double>());
  traffic_.uncompressed_bytes += flat32.size_bytes() + flat64.size_bytes();
  traffic_.bytes += flat64.size_bytes();
  NDArray sum32 = flat32;
  if (compression_.has_value()) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values32, flat32.Data<float>());
    COOPER_ASSIGN_OR_RETURN(const int64_t moved,
                            compressed_sum_.Sum(*compression_, keys, values, values32));
    traffic_.bytes += moved;
  } else {
    traffic_.bytes += flat32.size_bytes();
    COOPER_ASSIGN_OR_RETURN(sum32, sum_buffer_.Sum());
  }
  COOPER_RETURN_IF_ERROR(world_.AllReduceSum(values64));
  COOPER_RETURN_IF_ERROR(PartsOf(values, sum32, flat64, &parts));
  for (size_t i = 0; i < keys.size(); ++i) {
    COOPER_RETURN_IF_ERROR(Apply(keys[i], values[i], parts[i]));
  }
  return absl::OkStatus();
}

absl::Status KVStoreMpi::Apply(const std::string& key, const NDArray& value, const NDArray& sum) {
  if (updater_ == nullptr) return value.CopyFrom(sum);
  if (sum.dtype() == value.dtype()) return updater_->Update(key, value, sum);
  COOPER_ASSIGN_OR_RETURN(const NDArray gradient, sum.AsType(value.dtype()));
  return updater_->Update(key, value, gradient);
}

// Key sets known to all contain only keys with values; without these values the sets become new
// again.
void KVStoreMpi::Forget(const std::vector<std::string>& keys) {
  KVStoreWithValues::Forget(keys);
  compressed_sum_.Forget(keys);
  key_sets_.clear();
  numbers_.clear();
}

namespace {

absl::StatusOr<std::unique_ptr<KVStore>> MakeKVStoreMpi(absl::string_view type) {
  COOPER_ASSIGN_OR_RETURN(MpiWorld * world, MpiWorld::Get());
  return std::make_unique<KVStoreMpi>(type, world);
}

const bool kRegistered[] = {RegisterKVStore("dist_sync", MakeKVStoreMpi),
                            RegisterKVStore("dist_device_sync", MakeKVStoreMpi)};

}  // namespace
}  // namespace cooper
