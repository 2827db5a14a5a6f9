// SPDX-License-Identifier: Apache-2.0
// Chains of small copies whose result tells each of them. A chain takes a tag that exists once from
// host memory to the card, sometimes from one place of the card to another, and back into a cell of
// host memory that is its own. A copy that is lost, doubled, overtaken or late leaves a wrong cell.
//
// Every command that was submitted is asked for until the driver answers it: with its end, or with
// an error.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

struct CommandCounts {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;  // answered with their end
  std::uint64_t failed = 0;     // answered with an error
  std::uint64_t lost = 0;       // not answered, even by the end of the card's session
  std::uint64_t wrong = 0;      // chains whose cell is not what their answers say
};

class TaggedChains {
 public:
  // Opens the card. `cell`: bytes of a tag; `counts` outlives this. `seed`: of tags and choices.
  // Errors as of open_card().
  static Result<TaggedChains> open(Context& context, Bytes cell, std::uint64_t seed,
                                   CommandCounts& counts);
  TaggedChains(TaggedChains&&) = default;
  TaggedChains& operator=(TaggedChains&&) = delete;
  // Shuts the card down, and asks for what is left.
  ~TaggedChains();

  // One more chain. It may wait for earlier ones, and then for room in the ring. Errors as of
  // Device::submit() and Device::wait().
  Status submit();
  // Waits for all chains.
  Status drain();
  // Counts what has ended, resets the queue, and asks for the rest. Errors as of
  // Device::reset_queue().
  Status reset();
  Bytes used() const { return device_->memory_statistics().used(); }

 private:
  struct Chain {
    std::vector<driver::Ticket> tickets;  // of commands that were not answered
    std::size_t cell = 0;
    bool failed = false;  // one of its commands was answered with an error, or not submitted
  };
  struct Lane {
    driver::StreamId stream{};
    driver::DeviceAddress slots{};  // two cells
    std::deque<Chain> outstanding;  // the oldest first
    std::size_t next_cell = 0;
  };

  TaggedChains(Context& context, Bytes cell, std::uint64_t seed, CommandCounts& counts)
      : context_(&context), cell_(cell), random_(seed), counts_(&counts) {}
  Status prepare();
  // Without this a failed copy to the card would leave what earlier programs have left there.
  Status fill_slots(std::size_t lane);
  Bytes offset_of(std::size_t cell) const { return cell * cell_; }
  // Waits for the lane's chains up to the one `behind` the oldest.
  Status reap(Lane& lane, std::size_t behind);
  void complete_oldest(Lane& lane);
  void check(const Chain& chain);
  bool is_tag(std::size_t lane, Bytes at, const std::byte* found) const;
  // Asks for each command that was not answered; nothing is waited for.
  void ask();

  Context* context_;
  Bytes cell_;
  Random random_;
  CommandCounts* counts_;
  std::unique_ptr<driver::Device> device_;
  std::unique_ptr<platform::DmaMemory> tags_, log_;  // freed before the device is
  std::vector<Lane> lanes_;
};

}  // namespace npu::workloads
