#ifndef COOPER_MODULE_PREDICT_LRU_MAP_H_
#define COOPER_MODULE_PREDICT_LRU_MAP_H_

// Values by name, of which so many are kept: a new one takes the place of that which nobody has
// asked for for longest.

#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace cooper {

template <typename Value>
class LruMap {
 public:
  // `capacity` is at least 1.
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // Null if there is none. Valid until the next Insert.
  Value* Find(const std::string& name) {
    const auto it = places_.find(name);
    if (it == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->second;
  }
  bool contains(const std::string& name) const { return places_.contains(name); }

  // Replaces what has that name.
  Value* Insert(const std::string& name, Value value) {
    if (Value* old = Find(name)) {
      *old = std::move(value);
      return old;
    }
    if (entries_.size() == capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(name, std::move(value));
    places_[name] = entries_.begin();
    return &entries_.front().second;
  }

  // Nothing if there is none.
  void Erase(const std::string& name) {
    const auto it = places_.find(name);
    if (it == places_.end()) return;
    entries_.erase(it->second);
    places_.erase(it);
  }

  // From the one that was asked for last.
  const std::list<std::pair<std::string, Value>>& entries() const { return entries_; }

 private:
  const size_t capacity_;
  std::list<std::pair<std::string, Value>> entries_;
  absl::flat_hash_map<std::string, typename std::list<std::pair<std::string, Value>>::iterator>
      places_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_LRU_MAP_H_
