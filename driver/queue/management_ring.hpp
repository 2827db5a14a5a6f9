// SPDX-License-Identifier: Apache-2.0
// The card's management queue (abi/queue_management.hpp). Commands of several tasks are on their
// way at a time; the card executes them one after another.
//
// A command that was given up at its deadline keeps its place until the card answers. If it never
// does, the ring fills up; restart() forgets it.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "driver/link/card_link.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/abi/queue_management.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

struct ManagerCounters {
  std::atomic<std::uint64_t> calls{0}, commands{0}, mmio_writes{0}, mmio_reads{0}, ring_full{0},
      timeouts{0}, restarts{0}, resets{0}, faults{0}, faults_lost{0};
};

// Whose deadline it is. A register that a card does not answer stalls the CPU for the root port's
// completion timeout, so behind a deadline of the caller's none is read.
enum class DeadlineOf : std::uint8_t { kDriver, kCaller };

// Of one command. `state` is the card's, if it was on one queue.
struct ManagementAnswer {
  abi::ManagementStatus status = abi::ManagementStatus::kSuccess;
  abi::QueueState state = abi::QueueState::kIdle;
};

class ManagementRing {
 public:
  static constexpr unsigned kLog2Entries = 6;
  static constexpr std::uint32_t kEntries = 1U << kLog2Entries;

  static Result<std::unique_ptr<ManagementRing>> create(CardLink& link, ManagerCounters& counters);

  // Enables the ring, empty. kTimeout: what it executed does not end; kBadDevice.
  Status start(Instant deadline);
  // start() for a ring with commands on their way: they are given up (kAborted for those who wait),
  // and may have been executed or not.
  Status restart(Instant deadline);
  // For good: later commands fail with kAborted. Unless all was given back, the register keeps a
  // sign of it: not 0. So does a driver that ends without stop().
  void stop(bool all_given_back);

  // kAborted: the card's management queue is off, so it was reset, and its queues are gone;
  // kDeviceLost, kIo.
  Status check_on();

  // kQueueFull: no place until `deadline`; kTimeout: no answer; kAborted: restart(), or the card
  // was reset; kDeviceLost. Before a deadline of the driver's own the card is looked at after 1 ms,
  // then in twice as long each time, and at once if the command before had no answer: kIo, where it
  // decodes no registers, has halted or may not use the bus.
  Result<ManagementAnswer> execute(const abi::ManagementCommand& command, Instant deadline,
                                   DeadlineOf whose = DeadlineOf::kDriver);
  // All of them, one after another, with as few doorbells as possible; answer by answer.
  std::vector<Result<ManagementAnswer>> execute(const std::vector<abi::ManagementCommand>& commands,
                                                Instant deadline,
                                                DeadlineOf whose = DeadlineOf::kDriver);

 private:
  enum class Place : std::uint8_t {
    kFree,
    kWaited,     // somebody wants the answer
    kAbandoned,  // nobody does any more
  };

  ManagementRing(CardLink& link, ManagerCounters& counters,
                 std::unique_ptr<platform::DmaMemory> memory);
  static Bytes command_offset(std::uint64_t number) {
    return number % kEntries * abi::kManagementEntrySize;
  }
  static Bytes answer_offset(std::uint64_t number) {
    return kEntries * abi::kManagementEntrySize +
           number % kEntries * sizeof(abi::ManagementResponse);
  }
  bool answered(std::uint64_t number) const {
    return memory_->load<std::uint64_t>(answer_offset(number)) == number + 1;
  }
  Status usable() const;
  void collect();
  // Puts in as many as there is room for, at least one. Fails as execute(). `epoch`: the run of
  // the ring.
  Result<std::size_t> enter(const abi::ManagementCommand* commands, std::size_t count,
                            Instant deadline, std::uint64_t& first, std::uint64_t& epoch);
  void write(std::uint64_t number, abi::ManagementCommand command);
  Result<ManagementAnswer> wait(std::uint64_t number, std::uint64_t epoch, Instant deadline,
                                DeadlineOf whose, std::uint8_t opcode);
  Status look_at_card(std::uint64_t number, std::string_view name, bool settled);
  tl::unexpected<Error> give_up(std::uint64_t number, Error why);
  tl::unexpected<Error> too_late(std::uint64_t number, std::string_view name, DeadlineOf whose);
  Status enable(Instant deadline);
  void begin_epoch();
  void leave(std::uint64_t number, Place place);

  CardLink& link_;
  ManagerCounters& counters_;
  std::unique_ptr<platform::DmaMemory> memory_;  // commands, then answers
  SpinLock lock_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> suspect_{false};  // the last command had no answer
  std::atomic<std::uint64_t> epoch_{0};
  std::uint64_t next_ = 0;    // number of the next command, since creation
  std::uint64_t oldest_ = 0;  // places of commands from here on are in use
  std::uint64_t start_ = 0;   // number of the run's first command
  std::vector<Place> places_;
};

}  // namespace npu::driver
