// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/core_order.hpp"

#include <utility>

namespace npu::model {
namespace {

constexpr std::size_t index(platform::Pipe pipe) {
  return static_cast<std::size_t>(pipe);
}

}  // namespace

void CoreOrder::begin_block() {
  Clock all(core_);
  for (const auto& clock : clocks_) all.join(clock);
  for (unsigned pipe = 0; pipe < platform::kPipes; ++pipe) {
    all.set(static_cast<Pipe>(pipe), numbers_[pipe]);
  }
  clocks_.assign(platform::kPipes, all);
  for (auto& queue : issued_) queue.clear();
  scalar_ = nullptr;
  flags_.clear();
  for (unsigned pipe = 0; pipe < platform::kPipes; ++pipe) last_[pipe] = {0, numbers_[pipe], 0};
}

void CoreOrder::issue(Pipe pipe, PlaceNumber place, bool instruction) {
  if (!scalar_) scalar_ = std::make_shared<Clock>(of(Pipe::kScalar));
  issued_[index(pipe)].push_back({scalar_, {place, next_turn()}});
  if (!instruction) return;
  auto& last = last_[index(pipe)];
  ++last.instructions;
  last.place = place;
}

CoreOrder::Entry CoreOrder::take(Pipe pipe) {
  auto& queue = issued_[index(pipe)];
  const Issued issued = std::move(queue.front());
  queue.pop_front();
  of(pipe).join(*issued.scalar);
  return issued.entry;
}

Moment CoreOrder::happens(Pipe pipe) {
  const std::uint32_t number = ++numbers_[index(pipe)];
  of(pipe).set(pipe, number);
  if (pipe == Pipe::kScalar) scalar_ = nullptr;
  return {core_, pipe, number};
}

bool CoreOrder::raise(Pipe from, Pipe to, unsigned id, PlaceNumber place) {
  auto& raises = flags_[{from, to, id}];
  raises.push_back({of(from), place});
  return raises.size() > 1;
}

void CoreOrder::lower(Pipe from, Pipe to, unsigned id) {
  auto& raises = flags_[{from, to, id}];
  of(to).join(raises.front().clock);
  raises.pop_front();
  if (to == Pipe::kScalar) scalar_ = nullptr;
}

void CoreOrder::drained() {
  for (const auto& clock : clocks_) of(Pipe::kScalar).join(clock);
  scalar_ = nullptr;
}

std::vector<PlaceNumber> CoreOrder::not_awaited() const {
  std::vector<PlaceNumber> places;
  for (unsigned pipe = 0; pipe < platform::kPipes; ++pipe) {
    const Last& last = last_[pipe];
    const auto over = known(Pipe::kScalar).count(core_, static_cast<Pipe>(pipe));
    if (over - last.before < last.instructions) places.push_back(last.place);
  }
  return places;
}

std::vector<CoreOrder::Raised> CoreOrder::raised() const {
  std::vector<Raised> left;
  for (const auto& [flag, raises] : flags_) {
    const auto& [from, to, id] = flag;
    for (const auto& raise : raises) left.push_back({from, to, id, raise.place});
  }
  return left;
}

}  // namespace npu::model
