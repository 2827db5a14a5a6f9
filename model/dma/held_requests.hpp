// SPDX-License-Identifier: Apache-2.0
// Requests that are in no engine because they need a page that has to be brought (replay), or
// because an engine has lost them (a fault for tests), and those of their streams behind them. So
// engines and rings are free for others meanwhile.
//
// Each is in a line: one for a stream, one for each request without order. The first of a line
// is lost, waits for its page, is ready for an engine, or is in one; then the next one is ready
// when it has left. Requests of a line say so (`DmaRequest::held`).
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "model/dma/dma_types.hpp"

namespace npu::model {

class HeldRequests {
 public:
  // Whether requests of the stream have to go behind others that are held.
  bool holds(unsigned function, std::uint16_t stream) const;
  // Of a function; those in engines do not count.
  std::size_t count(unsigned function) const;
  // `request` needs the page; `behind`: of its stream.
  void wait(DmaRequest request, const MissingPage& page, std::vector<DmaRequest> behind);
  // Nothing happens to `request` until found() or a reset.
  void lose(DmaRequest request, std::vector<DmaRequest> behind);
  // What the engine has lost is ready.
  void found(unsigned engine);
  // Of a stream that holds().
  void follow(DmaRequest request);
  // What waits for that page is ready, to be tried again or to fail.
  void settled(SpaceId space, std::uint64_t page, Completion completion);
  // The next one that is ready, for which `may(request)`; it is on its way to an engine then.
  template <class May>
  std::optional<DmaRequest> take(May may) {
    for (auto line = lines_.begin(); line != lines_.end(); ++line) {
      if (line->state != State::kReady || !may(line->requests.front())) continue;
      return take(line);
    }
    return std::nullopt;
  }
  // One that was held has left its engine for good.
  void left(const DmaRequest& request);
  // The client's request of that context is ready to end.
  void stop(const DmaClient& client, std::uint64_t context);
  // Forgets the function's.
  void reset(unsigned function);

 private:
  enum class State : std::uint8_t { kLost, kWaits, kReady, kInEngine };
  struct Line {
    unsigned function = 0;
    std::uint16_t stream = 0;
    bool ordered = false;
    State state = State::kWaits;
    SpaceId space = 0;
    MissingPage page;  // kWaits
    std::deque<DmaRequest> requests;
  };
  using Lines = std::list<Line>;

  // The line has `request` as its first one now.
  Lines::iterator begin_line(DmaRequest request, std::vector<DmaRequest> behind);
  Lines::iterator line_of(unsigned function, std::uint16_t stream);
  DmaRequest take(Lines::iterator line);

  Lines lines_;  // in the order in which they began
};

}  // namespace npu::model
