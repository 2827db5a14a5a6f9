// SPDX-License-Identifier: Apache-2.0
// Poll loops. A round that only looked, and was as the one before, will be the same again until
// something it looked at changes: the core sleeps until then and goes on at the begin of the
// round during which that happens, as if it had polled all the time. Looks of that round that
// come before the change see what they saw; the first one behind it sees what is there.
#pragma once

#include <optional>
#include <vector>

#include "model/aicore/core_thread.hpp"
#include "model/aicore/core_window.hpp"
#include "model/aicore/poll_record.hpp"
#include "model/aicore/program_services.hpp"
#include "model/aicore/system_counter.hpp"

namespace npu::model {

class PollLoop : private MemoryWatch::Watcher {
 public:
  PollLoop(ProgramServices& services, const CoreWindow& window, const CallStack& calls,
           CoreThread& thread, ProgramCoreStatistics& statistics);

  const SystemCounter& counter() const { return counter_; }

  // The program asks whether to go on polling (platform/aicore_port.hpp).
  bool poll_again(std::uint64_t deadline);
  // A block begins.
  void reset();
  // The program is not in a poll loop any more.
  void close() { polls_.close(); }
  // It is, and has only looked in this round.
  bool open() const { return polls_.open(); }

  // --- of each access
  // One that only looks, from `begin` to local time.
  void looked(Look look, SimTime begin);
  // One that does something else: the round is not to be gone through again.
  void spoil();
  void enter_effect() {
    thread_.enter();
    spoil();
  }
  // What DATA_MAIN_BASE showed in the round that is gone through again; null: this look is in the
  // present.
  const Look* register_before() { return replayed(Look::Kind::kRegister, 0); }
  // Local time is one at which nothing had changed.
  bool before_change() const { return thread_.local() < changed_at_; }
  // The bytes of a line that is missed, if the round that is gone through again read it: those of
  // then, or as they are if it comes behind the change. False: it is to be read.
  bool line_before(std::uint64_t line, DataCache::Bytes64& data);
  // DATA_MAIN_BASE is another one.
  void register_written() {
    if (sleeping_) line_written(Writer::kDma, 0);
  }
  // When the last look ended that sampled something; once. UINT64_MAX: there was none.
  SimTime take_found();
  // The block is ended now: when the access is answered that would be in flight; 0: none.
  SimTime answered_at() const { return sent_at_ < sim_now() ? answered_at_ : 0; }

 private:
  const Look* replayed(Look::Kind kind, std::uint64_t address);
  void sample(std::uint64_t line);
  void line_written(Writer writer, std::uint64_t address) override;
  bool looks_the_same();
  std::optional<SimTime> sleep(SimTime limit);
  void in_flight(SimTime begin, SimTime end);
  void cut_in_sleep(SimTime ended, SimTime round);

  ProgramServices& services_;
  const CoreWindow& window_;
  const CallStack& calls_;
  CoreThread& thread_;
  ProgramCoreStatistics& statistics_;
  const SystemCounter counter_;
  PollRecord polls_;
  std::vector<Look> replayed_;  // the round that is gone through again
  std::size_t replay_next_ = 0;
  SimTime found_at_ = UINT64_MAX;  // end of the last look that was sampled; UINT64_MAX: acted upon
  DataCache::Bytes64 sample_{};    // of a line that it looks at again, and how that went
  Completion sample_completion_ = Completion::kSuccess;
  SimTime changed_at_ = 0;  // something that a sleeping program had looked at
  bool sleeping_ = false, changed_ = false;
  SimTime sent_at_ = 0, answered_at_ = 0;  // of an access that is not made; 0: none
};

}  // namespace npu::model
