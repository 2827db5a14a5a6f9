// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/tagged_chains.hpp"

#include <algorithm>
#include <cstring>

#include "npu/abi/dma.hpp"

namespace npu::workloads {

using driver::DmaCommand;
using driver::WaitPolicy;

namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kDepth = 1024;  // chains of a lane: together more commands than the ring has
static_assert(kLanes * kDepth * 2 > abi::kRingEntries);
// After which a command counts as late: a full ring takes less than a tenth of it.
constexpr Picoseconds kLate = 20_ms;
constexpr std::byte kNothing{0xA5};  // in cells of the log before a chain
constexpr Bytes kWord = 8;           // that no copy divides
bool is_untouched(const std::byte* word) {
  return std::all_of(word, word + kWord, [](std::byte each) { return each == kNothing; });
}
// Behind the cells of all lanes: what is in a lane's slots before its first chain.
std::size_t first_tag(std::size_t lane) {
  return kLanes * kDepth + lane;
}

}  // namespace

Result<TaggedChains> TaggedChains::open(Context& context, Bytes cell, std::uint64_t seed,
                                        CommandCounts& counts) {
  TaggedChains made(context, cell, seed, counts);
  auto device = open_card(context);
  if (!device) return forward_error(device);
  made.device_ = std::move(*device);
  if (auto ok = made.prepare(); !ok) return forward_error(ok);
  return made;
}

Status TaggedChains::prepare() {
  for (auto* const host : {&tags_, &log_}) {
    auto allocated = device_->allocate_host(offset_of(first_tag(kLanes)));
    if (!allocated) return forward_error(allocated);
    *host = std::move(*allocated);
  }
  const auto slots = device_->allocate(kLanes * 2 * cell_);
  if (!slots) return forward_error(slots);
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto stream = device_->create_stream();
    if (!stream) return forward_error(stream);
    Lane lane;
    lane.stream = *stream;
    lane.slots = slots->address + i * 2 * cell_;
    lanes_.push_back(lane);
    if (auto ok = fill_slots(i); !ok) return ok;
  }
  return {};
}

Status TaggedChains::fill_slots(std::size_t lane) {
  const auto stream = lanes_[lane].stream;
  const auto slots = lanes_[lane].slots;
  const Bytes offset = offset_of(first_tag(lane));
  fill_pattern({tags_->cpu().data + offset, cell_}, random_.next());
  for (const auto slot : {slots, slots + cell_}) {
    auto copied =
        device_->copy(stream, DmaCommand::host_to_device(tags_->bus() + offset, slot, cell_),
                      WaitPolicy::kPolling, context_->platform.clock().now() + kLate);
    if (!copied) return copied;
  }
  return {};
}

TaggedChains::~TaggedChains() {
  if (!device_) return;  // moved from, or never open
  ask();
  static_cast<void>(device_->shutdown());  // of a card that may be gone
  ask();
  for (const auto& lane : lanes_) {
    for (const auto& chain : lane.outstanding) counts_->lost += chain.tickets.size();
  }
}

Status TaggedChains::submit() {
  auto& lane = lanes_[random_.below(lanes_.size())];
  if (lane.outstanding.size() == kDepth) {
    if (auto ok = reap(lane, random_.below(kDepth / 2)); !ok) return ok;
  }
  const auto index = static_cast<std::size_t>(&lane - lanes_.data());
  Chain chain;
  chain.cell = index * kDepth + lane.next_cell;
  const Bytes offset = offset_of(chain.cell);
  fill_pattern({tags_->cpu().data + offset, cell_}, random_.next());
  std::memset(log_->cpu().data + offset, std::to_integer<int>(kNothing), cell_);
  const bool moves = random_.below(2) == 0;
  const auto last_slot = moves ? lane.slots + cell_ : lane.slots;
  std::vector<DmaCommand> commands{
      DmaCommand::host_to_device(tags_->bus() + offset, lane.slots, cell_)};
  if (moves) commands.push_back(DmaCommand::device_to_device(lane.slots, last_slot, cell_));
  commands.push_back(DmaCommand::device_to_host(last_slot, log_->bus() + offset, cell_));
  lane.next_cell = (lane.next_cell + 1) % kDepth;
  lane.outstanding.push_back(std::move(chain));
  for (const auto& command : commands) {
    driver::SubmitOptions options;
    options.interrupt = random_.below(16) == 0;
    const auto ticket = device_->submit(lane.stream, command, options);
    if (!ticket) {
      lane.outstanding.back().failed = true;
      return forward_error(ticket);
    }
    ++counts_->submitted;
    lane.outstanding.back().tickets.push_back(*ticket);
  }
  return {};
}

Status TaggedChains::reap(Lane& lane, std::size_t behind) {
  const auto& last = lane.outstanding[behind].tickets.back();
  constexpr WaitPolicy kPolicies[] = {WaitPolicy::kPolling, WaitPolicy::kAdaptive,
                                      WaitPolicy::kInterrupt};
  const auto policy = kPolicies[random_.below(last.interrupt ? 3 : 2)];
  const auto waited = device_->wait(last, policy, context_->platform.clock().now() + kLate);
  if (!waited) return waited;
  for (std::size_t i = 0; i <= behind; ++i) complete_oldest(lane);
  return {};
}

Status TaggedChains::drain() {
  for (auto& lane : lanes_) {
    if (lane.outstanding.empty()) continue;
    if (auto ok = reap(lane, lane.outstanding.size() - 1); !ok) return ok;
  }
  return {};
}

void TaggedChains::complete_oldest(Lane& lane) {
  const auto& chain = lane.outstanding.front();
  counts_->completed += chain.tickets.size();
  check(chain);
  lane.outstanding.pop_front();
}

// After a failed command the stream goes on: the last copy of its chain may bring what was in the
// card before, the tag of an earlier chain of its lane, and any part of it.
void TaggedChains::check(const Chain& chain) {
  const auto* const tag = tags_->cpu().data + offset_of(chain.cell);
  const auto* const found = log_->cpu().data + offset_of(chain.cell);
  bool is_right = std::memcmp(tag, found, cell_) == 0;
  if (!is_right && chain.failed) {
    is_right = true;
    for (Bytes at = 0; at < cell_; at += kWord) {
      is_right = is_right && (is_untouched(found + at) || is_tag(chain.cell / kDepth, at, found));
    }
  }
  if (!is_right) ++counts_->wrong;
}

// Whether the word at `at` is this word of a tag of the lane: its cells keep the last ones.
bool TaggedChains::is_tag(std::size_t lane, Bytes at, const std::byte* found) const {
  for (std::size_t i = 0; i <= kDepth; ++i) {
    const auto cell = i == kDepth ? first_tag(lane) : lane * kDepth + i;
    if (std::memcmp(tags_->cpu().data + offset_of(cell) + at, found + at, kWord) == 0) return true;
  }
  return false;
}

void TaggedChains::ask() {
  for (auto& lane : lanes_) {
    std::deque<Chain> open;
    for (auto& chain : lane.outstanding) {
      std::vector<driver::Ticket> unanswered;
      for (const auto& ticket : chain.tickets) {
        const auto done = device_->is_done(ticket);
        if (done && !*done) {
          unanswered.push_back(ticket);
          continue;
        }
        chain.failed = chain.failed || !done;
        ++(done ? counts_->completed : counts_->failed);
      }
      chain.tickets = std::move(unanswered);
      if (chain.tickets.empty()) {
        check(chain);
      } else {
        open.push_back(std::move(chain));
      }
    }
    lane.outstanding = std::move(open);
  }
}

Status TaggedChains::reset() {
  ask();
  auto done = device_->reset_queue();
  if (done) ask();
  return done;
}

}  // namespace npu::workloads
