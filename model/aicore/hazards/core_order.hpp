// SPDX-License-Identifier: Apache-2.0
// What has happened before what on one core. Its pipes run in order; flags, the scalar unit's waits
// and the issue of instructions order them against each other; flags between cores come from
// outside.
//
// Entries of a pipe are told twice: when the scalar unit issues them, and when the pipe comes to
// them. In between lies the pipe's queue.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <tuple>

#include "model/aicore/hazards/access_map.hpp"

namespace npu::model {

class CoreOrder {
 public:
  using Pipe = platform::Pipe;

  explicit CoreOrder(std::uint16_t core) : core_(core) { begin_block(); }

  // Nothing of the core is in flight: what it did is over for all of its pipes.
  void begin_block();

  struct Entry {
    PlaceNumber place = 0;
    std::uint32_t issued = 0;  // its turn
  };
  // The scalar unit hands an instruction, or another entry, to a pipe.
  void issue(Pipe pipe, PlaceNumber place, bool instruction);
  // The pipe comes to its next entry: what the scalar unit knew when it issued it is over.
  Entry take(Pipe pipe);
  // The place of what the pipe comes to next.
  PlaceNumber next(Pipe pipe) const {
    return issued_[static_cast<std::size_t>(pipe)].front().entry.place;
  }
  // What the scalar unit does itself has a turn, too.
  std::uint32_t next_turn() { return ++turns_; }
  // The pipe, or the scalar unit, does something: its moment.
  Moment happens(Pipe pipe);
  const Clock& known(Pipe pipe) const { return clocks_[static_cast<std::size_t>(pipe)]; }
  // Something outside is over for the pipe.
  void learn(Pipe pipe, const Clock& clock) { of(pipe).join(clock); }

  // The flag is raised by `from`, at `place`. Whether nobody has waited for the raise before.
  bool raise(Pipe from, Pipe to, unsigned id, PlaceNumber place);
  void lower(Pipe from, Pipe to, unsigned id);
  // The scalar unit has seen all pipes end.
  void drained();

  // The last instruction of each pipe that has one which the scalar unit does not know to be over.
  std::vector<PlaceNumber> not_awaited() const;
  // Raises that nobody has waited for.
  struct Raised {
    Pipe from, to;
    unsigned id;
    PlaceNumber place;
  };
  std::vector<Raised> raised() const;

 private:
  struct Issued {
    std::shared_ptr<const Clock> scalar;
    Entry entry;
  };
  struct Raise {
    Clock clock;
    PlaceNumber place;
  };
  using Flag = std::tuple<Pipe, Pipe, unsigned>;

  Clock& of(Pipe pipe) { return clocks_[static_cast<std::size_t>(pipe)]; }

  const std::uint16_t core_;
  std::vector<Clock> clocks_;  // by Pipe
  std::array<std::uint32_t, platform::kPipes> numbers_{};
  struct Last {
    std::uint32_t instructions = 0;  // issued in this block
    std::uint32_t before = 0;        // numbers_ at its begin
    PlaceNumber place = 0;
  };
  std::array<Last, platform::kPipes> last_{};  // what was issued last
  std::array<std::deque<Issued>, platform::kPipes> issued_;
  std::shared_ptr<const Clock> scalar_;  // the scalar unit's, as it was at the last issue
  std::map<Flag, std::deque<Raise>> flags_;
  std::uint32_t turns_ = 0;
};

}  // namespace npu::model
