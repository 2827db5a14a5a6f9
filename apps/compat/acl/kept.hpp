// SPDX-License-Identifier: Apache-2.0
// What the library keeps for a program without npusim: values by what they are of.
#pragma once

#include <map>
#include <mutex>
#include <utility>

namespace npu::compat {

// Left alone at the process' end: threads may still be in calls.
template <class Key, class Value>
class Kept {
 public:
  void set(const Key& key, Value value) {
    const std::lock_guard<std::mutex> held(lock_);
    values_[key] = std::move(value);
  }
  // False: there is none.
  bool get(const Key& key, Value* value) {
    const std::lock_guard<std::mutex> held(lock_);
    const auto found = values_.find(key);
    if (found == values_.end()) return false;
    *value = found->second;
    return true;
  }
  bool drop(const Key& key) {
    const std::lock_guard<std::mutex> held(lock_);
    return values_.erase(key) != 0;
  }
  std::map<Key, Value> all() {
    const std::lock_guard<std::mutex> held(lock_);
    return values_;
  }

 private:
  std::mutex lock_;
  std::map<Key, Value> values_;
};

}  // namespace npu::compat
