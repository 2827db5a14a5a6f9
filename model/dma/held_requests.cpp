// SPDX-License-Identifier: Apache-2.0
#include "model/dma/held_requests.hpp"

#include <algorithm>
#include <utility>

#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

HeldRequests::Lines::iterator HeldRequests::line_of(unsigned function, std::uint16_t stream) {
  return std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
    return line.ordered && line.function == function && line.stream == stream;
  });
}

bool HeldRequests::holds(unsigned function, std::uint16_t stream) const {
  auto& self = const_cast<HeldRequests&>(*this);
  return !lines_.empty() && self.line_of(function, stream) != self.lines_.end();
}

std::size_t HeldRequests::count(unsigned function) const {
  std::size_t count = 0;
  for (const auto& line : lines_) count += line.function == function ? line.requests.size() : 0;
  return count;
}

HeldRequests::Lines::iterator HeldRequests::begin_line(DmaRequest request,
                                                       std::vector<DmaRequest> behind) {
  auto line = request.ordered ? line_of(request.function, request.stream) : lines_.end();
  if (line == lines_.end()) {
    line = lines_.emplace(lines_.end());
    line->function = request.function;
    line->stream = request.stream;
    line->ordered = request.ordered;
  }
  line->space = request.space;
  request.held = true;
  line->requests.push_front(std::move(request));
  for (auto& each : behind) follow(std::move(each));
  return line;
}

void HeldRequests::wait(DmaRequest request, const MissingPage& page,
                        std::vector<DmaRequest> behind) {
  const auto line = begin_line(std::move(request), std::move(behind));
  line->state = State::kWaits;
  line->page = page;
}

void HeldRequests::lose(DmaRequest request, std::vector<DmaRequest> behind) {
  begin_line(std::move(request), std::move(behind))->state = State::kLost;
}

void HeldRequests::found(unsigned engine) {
  for (auto& line : lines_) {
    const bool its = line.state == State::kLost && line.requests.front().engine == engine;
    if (its) line.state = State::kReady;
  }
}

void HeldRequests::follow(DmaRequest request) {
  request.held = true;
  const auto line = line_of(request.function, request.stream);
  line->requests.push_back(std::move(request));
}

void HeldRequests::settled(SpaceId space, std::uint64_t page, Completion completion) {
  for (auto& line : lines_) {
    if (line.state != State::kWaits || line.space != space ||
        align_down(line.page.address, abi::entry_span(0)) != page) {
      continue;
    }
    line.state = State::kReady;
    if (completion == Completion::kSuccess) continue;
    line.requests.front().fault = {device_fault(completion), line.page.address, space,
                                   line.page.write};
  }
}

DmaRequest HeldRequests::take(Lines::iterator line) {
  DmaRequest request = std::move(line->requests.front());
  line->requests.pop_front();
  line->state = State::kInEngine;
  if (!line->ordered) lines_.erase(line);
  return request;
}

void HeldRequests::left(const DmaRequest& request) {
  if (!request.held || !request.ordered) return;
  const auto line = line_of(request.function, request.stream);
  if (line == lines_.end()) return;
  if (line->requests.empty()) {
    lines_.erase(line);
  } else {
    line->state = State::kReady;
  }
}

void HeldRequests::stop(const DmaClient& client, std::uint64_t context) {
  for (auto& line : lines_) {
    for (auto& request : line.requests) {
      if (request.client != &client || request.context != context) continue;
      request.stopped = true;
      if (line.state == State::kWaits && &request == &line.requests.front()) {
        line.state = State::kReady;
      }
    }
  }
}

void HeldRequests::reset(unsigned function) {
  lines_.remove_if([function](const Line& line) { return line.function == function; });
}

}  // namespace npu::model
