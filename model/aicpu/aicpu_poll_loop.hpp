// SPDX-License-Identifier: Apache-2.0
// Poll loops. A round that only looks, and has looked at the same a second time, will go on doing
// so; the core sleeps until something it looks at changes and goes on in the round in which that
// happens, at the round's own time. What that round samples before the change is what was seen
// before, so that the program sees what it would have seen, at the times at which it would have.
#pragma once

#include "model/aicpu/aicpu_memory.hpp"
#include "model/aicpu/aicpu_registers.hpp"

namespace npu::model {

class AicpuPollLoop {
 public:
  AicpuPollLoop(AicpuShared& shared, unsigned number, AicpuThread& thread, PollRounds& rounds,
                const AicpuMemory& memory, const AicpuRegisters& registers)
      : shared_(shared),
        number_(number),
        thread_(thread),
        rounds_(rounds),
        memory_(memory),
        registers_(registers),
        statistics_(thread.statistics()) {}

  // The program asks whether to go on polling.
  bool poll_again(std::uint64_t deadline);
  // Something that a sleeping core looks at has changed, or is to end its sleep. `later`: by whom
  // comes after this core at equal times.
  void look_changed(bool later = false);
  // The same of lines.
  void lines_dropped(std::uint64_t address, Bytes length, bool later);

 private:
  SimTime time_of(std::uint64_t ticks) const;
  bool as_seen() const;
  void sleep(SimTime deadline, std::uint64_t executed);

  AicpuShared& shared_;
  const unsigned number_;
  AicpuThread& thread_;
  PollRounds& rounds_;
  const AicpuMemory& memory_;
  const AicpuRegisters& registers_;
  AicpuStatistics& statistics_;
  bool sleeping_ = false;
  bool changed_later_ = false;
  std::uint64_t round_began_at_ = 0;  // instructions then
};

}  // namespace npu::model
