// SPDX-License-Identifier: Apache-2.0
// Instructions that counted host software has executed: it adds to a counter of its own while it
// runs, one task at a time.
#pragma once

#include <cstdint>

namespace npu::model {

class Executed {
 public:
  // From now on. `counter` outlives this; null: nothing counts.
  void follow(const std::uint64_t* counter) {
    counter_ = counter;
    if (counter_ != nullptr) seen_ = *counter_;
  }
  bool is_known() const { return counter_ != nullptr; }
  // Since the last call.
  std::uint64_t take() {
    if (counter_ == nullptr) return 0;
    const std::uint64_t count = *counter_ - seen_;
    seen_ += count;
    all_ += count;
    return count;
  }
  // What counted software executes meanwhile is not the host's: somebody looks from outside.
  template <class Look>
  auto outside(Look look) {
    class Rest {
     public:
      explicit Rest(Executed& executed) : executed_(executed), begin_(executed.count()) {}
      ~Rest() { executed_.seen_ += executed_.count() - begin_; }
      Rest(const Rest&) = delete;
      Rest& operator=(const Rest&) = delete;

     private:
      Executed& executed_;
      const std::uint64_t begin_;
    } const rest(*this);
    return look();
  }
  // More that were executed, by rounds of a loop that did not run.
  void add(std::uint64_t count) { all_ += count; }
  // That take() has returned, and add() was told.
  std::uint64_t all() const { return all_; }

 private:
  std::uint64_t count() const { return counter_ == nullptr ? 0 : *counter_; }

  const std::uint64_t* counter_ = nullptr;
  std::uint64_t seen_ = 0, all_ = 0;
};

}  // namespace npu::model
