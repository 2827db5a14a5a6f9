// SPDX-License-Identifier: Apache-2.0
// Dropping translations for whoever asks: what is cached goes some time later, and it is over when
// no access goes on that was translated before.
#pragma once

#include <functional>

#include "model/mmu/access_generations.hpp"

namespace npu::model {

class Mmu;

class Invalidation : private AccessGenerations::Waiter {
 public:
  // For `function`; `done` is called when one is over.
  Invalidation(Mmu& mmu, unsigned function, std::function<void()> done)
      : mmu_(mmu), function_(function), done_(std::move(done)) {}
  Invalidation(const Invalidation&) = delete;
  Invalidation& operator=(const Invalidation&) = delete;

  bool busy() const { return state_ != State::kNone; }
  // Not while it is busy.
  void start(const TaggedRange& range);
  // Forgets the one in flight.
  void reset();

 private:
  void due(std::uint64_t epoch);
  unsigned function() const override { return function_; }
  void finish_if_drained() override;

  Mmu& mmu_;
  const unsigned function_;
  const std::function<void()> done_;
  enum class State : std::uint8_t { kNone, kStarted, kDraining };
  State state_ = State::kNone;
  TaggedRange range_ = kNoAddresses;
  std::uint64_t epoch_ = 0;  // resets so far
};

}  // namespace npu::model
