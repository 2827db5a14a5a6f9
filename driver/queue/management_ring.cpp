// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/management_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

using abi::ManagementCommand;

namespace {

constexpr Picoseconds kFirstGlance =
    1_ms;  // at a card that has not answered; twice as long each time

}  // namespace

Result<std::unique_ptr<ManagementRing>> ManagementRing::create(CardLink& link,
                                                               ManagerCounters& counters) {
  constexpr Bytes kSize =
      kEntries * (abi::kManagementEntrySize + Bytes{sizeof(abi::ManagementResponse)});
  auto memory =
      link.platform().allocate_dma(link.bdf(), kSize, 4096, platform::DmaDirection::kBidirectional);
  if (!memory) return forward_error(memory);
  return std::unique_ptr<ManagementRing>(new ManagementRing(link, counters, std::move(*memory)));
}

ManagementRing::ManagementRing(CardLink& link, ManagerCounters& counters,
                               std::unique_ptr<platform::DmaMemory> memory)
    : link_(link), counters_(counters), memory_(std::move(memory)), places_(kEntries) {}

Status ManagementRing::start(Instant deadline) {
  if (!lock_.try_lock_until(link_.clock(), deadline)) {
    return fail(ErrorCode::kTimeout, "waited for the management ring");
  }
  const SpinLockHolder holder(lock_);
  return enable(deadline);
}

Status ManagementRing::restart(Instant deadline) {
  counters_.restarts.fetch_add(1, std::memory_order_relaxed);
  return start(deadline);
}

// Under the lock. Who waits for an answer looks only when it changes.
void ManagementRing::begin_epoch() {
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  for (auto number = oldest_; number < next_; ++number) {
    const auto rest = answer_offset(number) + 8;
    if (places_[number % kEntries] != Place::kWaited) continue;
    memory_->store(rest, ~memory_->load<std::uint64_t>(rest));
  }
}

// Numbers go on, so that an answer to a command of an earlier run is nobody's.
Status ManagementRing::enable(Instant deadline) {
  if (auto ok = usable(); !ok) return ok;
  begin_epoch();
  std::fill(places_.begin(), places_.end(), Place::kFree);
  start_ = oldest_ = next_ = (next_ + kEntries - 1) / kEntries * kEntries;
  link_.write(abi::ManagementControl{});
  link_.write(abi::ManagementBase::from_raw(memory_->bus().value));
  abi::ManagementControl control;
  control.set<abi::ManagementControl::Enable>(1);
  control.set<abi::ManagementControl::HostMemory>(1);
  control.set<abi::ManagementControl::Log2Entries>(kLog2Entries);
  link_.write(control);
  counters_.mmio_writes.fetch_add(3, std::memory_order_relaxed);
  for (;;) {
    const auto status = link_.read<abi::ManagementStatusRegister>();
    counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
    if (!status) return forward_error(status);
    using Register = abi::ManagementStatusRegister;
    if (!status->get<Register::Enabled>() || status->get<Register::Halted>()) {
      return fail(ErrorCode::kBadDevice,
                  fmt::format("{}: the management queue does not enable, status {:#x}",
                              to_string(link_.bdf()), status->raw));
    }
    if (status->get<Register::Idle>()) return {};
    if (link_.clock().now() >= deadline) {
      return fail(ErrorCode::kTimeout, fmt::format("{}: waited for the management queue to be idle",
                                                   to_string(link_.bdf())));
    }
    link_.clock().relax({}, deadline);
  }
}

void ManagementRing::stop(bool all_given_back) {
  stopped_.store(true, std::memory_order_release);
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  begin_epoch();
  if (link_.lost()) return;
  abi::ManagementControl control;
  if (!all_given_back) control.set<abi::ManagementControl::Log2Entries>(kLog2Entries);
  link_.write(control);
}

// It is also off while another task restarts it.
Status ManagementRing::check_on() {
  for (const bool sure : {false, true}) {
    const auto status = link_.read<abi::ManagementStatusRegister>();
    counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
    if (sure) lock_.unlock();
    if (!status) return forward_error(status);
    if (status->get<abi::ManagementStatusRegister::Enabled>()) return {};
    if (!sure && !lock_.try_lock_until(link_.clock(), Instant())) return {};
  }
  return fail(
      ErrorCode::kAborted,
      fmt::format("the management queue of {} is off, the card was reset", to_string(link_.bdf())));
}

Status ManagementRing::usable() const {
  if (stopped_.load(std::memory_order_acquire)) {
    return fail(ErrorCode::kAborted, "the management queue is off, the device was shut down");
  }
  return link_.alive();
}

// Under the lock. What has been answered and is waited for by nobody makes room.
void ManagementRing::collect() {
  while (oldest_ < next_) {
    auto& place = places_[oldest_ % kEntries];
    if (place == Place::kWaited || (place == Place::kAbandoned && !answered(oldest_))) return;
    place = Place::kFree;
    ++oldest_;
  }
}

void ManagementRing::write(std::uint64_t number, ManagementCommand command) {
  command.fence_address = (memory_->bus() + answer_offset(number)).value;
  command.fence_value = number + 1;
  std::uint64_t words[abi::kManagementEntrySize / 8];
  static_assert(sizeof words == sizeof command);
  std::memcpy(words, &command, sizeof words);
  Bytes at = command_offset(number);
  for (const auto word : words) {
    memory_->store(at, word);
    at += sizeof word;
  }
}

Result<std::size_t> ManagementRing::enter(const ManagementCommand* commands, std::size_t count,
                                          Instant deadline, std::uint64_t& first,
                                          std::uint64_t& epoch) {
  auto& clock = link_.clock();
  bool counted = false;
  for (;;) {
    if (auto ok = usable(); !ok) return forward_error(ok);
    if (lock_.try_lock_until(clock, deadline)) {
      const SpinLockHolder holder(lock_);
      collect();
      const auto room = static_cast<std::size_t>(kEntries - (next_ - oldest_));
      const auto entered = std::min(room, count);
      first = next_;
      epoch = epoch_.load(std::memory_order_relaxed);
      for (std::size_t i = 0; i < entered; ++i) {
        places_[next_ % kEntries] = Place::kWaited;
        write(next_++, commands[i]);
      }
      if (entered > 0) {
        link_.platform().write_barrier();
        link_.write(abi::ManagementDoorbell::from_raw(static_cast<std::uint32_t>(next_ - start_)));
        counters_.commands.fetch_add(entered, std::memory_order_relaxed);
        counters_.mmio_writes.fetch_add(1, std::memory_order_relaxed);
        return entered;
      }
    }
    if (!counted) counters_.ring_full.fetch_add(1, std::memory_order_relaxed);
    counted = true;
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kQueueFull,
                  fmt::format("{}: the management ring has no place among {}, the oldest command "
                              "has not been answered",
                              to_string(link_.bdf()), kEntries));
    }
    clock.relax({}, deadline);
  }
}

void ManagementRing::leave(std::uint64_t number, Place place) {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  if (number >= start_) places_[number % kEntries] = place;
}

// Whether an answer may still come. `settled`: the card has had time to take the command in.
Status ManagementRing::look_at_card(std::uint64_t number, std::string_view name, bool settled) {
  using Register = abi::ManagementStatusRegister;
  const auto status = link_.read<Register>();
  counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
  if (!status) return forward_error(status);
  const auto no_answer = [&](ErrorCode code, const char* why) {
    return fail(code, fmt::format("{}: no answer to {}: {}", to_string(link_.bdf()), name, why));
  };
  if (!status->get<Register::Enabled>()) {
    return no_answer(ErrorCode::kAborted, "the management queue is off, the card was reset");
  }
  const auto command = link_.platform().pci().read16(link_.bdf(), abi::pci::kCommand);
  if ((command & abi::pci::kCommandBusMaster) == 0) {
    return no_answer(ErrorCode::kIo, "somebody has switched the card's bus mastering off");
  }
  if (status->get<Register::Halted>()) {
    return no_answer(ErrorCode::kIo, "the management queue has halted");
  }
  // An answer is not overtaken by a read that comes behind it (PCIe 2.4.1).
  if (settled && status->get<Register::Idle>() && !answered(number)) {
    return no_answer(ErrorCode::kTimeout, "the card is idle, the answer was lost");
  }
  return {};
}

tl::unexpected<Error> ManagementRing::give_up(std::uint64_t number, Error why) {
  leave(number, Place::kAbandoned);
  counters_.timeouts.fetch_add(1, std::memory_order_relaxed);
  return tl::unexpected(std::move(why));
}

// At the driver's own deadline: lost, or merely late?
tl::unexpected<Error> ManagementRing::too_late(std::uint64_t number, std::string_view name,
                                               DeadlineOf whose) {
  const auto late = [&](std::string what) {
    return give_up(number, {ErrorCode::kTimeout, fmt::format("{}: no answer to {}{}",
                                                             to_string(link_.bdf()), name, what)});
  };
  if (whose == DeadlineOf::kCaller) {
    const auto alive = link_.alive();
    return alive ? late("") : give_up(number, alive.error());
  }
  suspect_.store(true, std::memory_order_relaxed);
  const auto status = link_.read<abi::ManagementStatusRegister>();
  if (!status) return give_up(number, status.error());
  return late(fmt::format(", MANAGEMENT_STATUS {:#x}", status->raw));
}

Result<ManagementAnswer> ManagementRing::wait(std::uint64_t number, std::uint64_t epoch,
                                              Instant deadline, DeadlineOf whose,
                                              std::uint8_t opcode) {
  auto& clock = link_.clock();
  const auto name = to_string(static_cast<abi::ManagementOpcode>(opcode));
  const auto watched =
      memory_->cpu().subspan(answer_offset(number), sizeof(abi::ManagementResponse));
  // One that has left a command unanswered is looked at before it is waited for.
  bool settled = !suspect_.load(std::memory_order_relaxed);
  auto interval = kFirstGlance;
  auto next_look = whose == DeadlineOf::kCaller ? Instant::never()
                   : settled                    ? clock.now() + interval
                                                : clock.now();
  for (;;) {
    if (epoch_.load(std::memory_order_acquire) != epoch) {
      return fail(ErrorCode::kAborted, fmt::format("{}: the management queue was restarted", name));
    }
    if (answered(number)) break;
    if (clock.now() >= deadline) return too_late(number, name, whose);
    if (clock.now() >= next_look) {
      if (auto ok = look_at_card(number, name, settled); !ok) {
        suspect_.store(true, std::memory_order_relaxed);
        return give_up(number, ok.error());
      }
      settled = true;
      next_look = clock.now() + interval;
      interval = 2 * interval;
      continue;
    }
    clock.relax(watched, std::min(deadline, next_look));
  }
  suspect_.store(false, std::memory_order_relaxed);
  link_.platform().read_barrier();
  const auto rest = memory_->load<std::uint64_t>(answer_offset(number) + 8);
  leave(number, Place::kFree);
  return ManagementAnswer{static_cast<abi::ManagementStatus>(rest & 0xFFFF'FFFF),
                          static_cast<abi::QueueState>(rest >> 32)};
}

Result<ManagementAnswer> ManagementRing::execute(const ManagementCommand& command, Instant deadline,
                                                 DeadlineOf whose) {
  std::uint64_t number = 0, epoch = 0;
  const auto entered = enter(&command, 1, deadline, number, epoch);
  if (!entered) return forward_error(entered);
  return wait(number, epoch, deadline, whose, command.opcode);
}

std::vector<Result<ManagementAnswer>> ManagementRing::execute(
    const std::vector<ManagementCommand>& commands, Instant deadline, DeadlineOf whose) {
  std::vector<Result<ManagementAnswer>> answers;
  answers.reserve(commands.size());
  while (answers.size() < commands.size()) {
    std::uint64_t first = 0, epoch = 0;
    const auto begin = answers.size();
    const auto entered =
        enter(commands.data() + begin, commands.size() - begin, deadline, first, epoch);
    if (!entered) {
      while (answers.size() < commands.size()) answers.emplace_back(forward_error(entered));
      break;
    }
    for (std::size_t i = 0; i < *entered; ++i) {
      answers.push_back(wait(first + i, epoch, deadline, whose, commands[begin + i].opcode));
    }
  }
  return answers;
}

}  // namespace npu::driver
