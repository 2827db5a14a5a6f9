// SPDX-License-Identifier: Apache-2.0
// Things of a program that it knows by handles: pointers that are none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace npu::exec::acl {

template <class T>
class HandleTable {
 public:
  // Numbers of all tables of a program come from one counter: a handle is of one kind.
  explicit HandleTable(std::uint64_t& next) : next_(next) {}

  std::uint64_t add(std::shared_ptr<T> thing) {
    const std::uint64_t handle = next_;
    next_ += kStep;
    things_.emplace(handle, std::move(thing));
    return handle;
  }
  // Null: there is none.
  std::shared_ptr<T> find(std::uint64_t handle) const {
    const auto found = things_.find(handle);
    return found == things_.end() ? nullptr : found->second;
  }
  // What it was dies when the table is as it will be: that may take time, in which others change
  // it.
  void remove(std::uint64_t handle) { const auto gone = things_.extract(handle); }
  void clear() { const auto gone = std::exchange(things_, {}); }
  // As it is now, by handle: things come and go while a call that looks at all of them waits.
  std::vector<std::pair<std::uint64_t, std::shared_ptr<T>>> all() const {
    return {things_.begin(), things_.end()};
  }
  std::size_t size() const { return things_.size(); }

  static constexpr std::uint64_t kFirst = 0x4143'4C00'0000;  // neither host nor device addresses
  static constexpr std::uint64_t kStep = 16;

 private:
  std::uint64_t& next_;
  std::map<std::uint64_t, std::shared_ptr<T>> things_;
};

}  // namespace npu::exec::acl
