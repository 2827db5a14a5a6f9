// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/streams.hpp"

namespace npu::attack {

void Streams::create() {
  if (process_.streams.size() >= 12) return;
  auto& space = process_.any_space();
  StreamModel stream;
  stream.card = space.card;
  stream.space = &space;
  stream.interrupt = process_.random.percent(80);
  driver::StreamOptions options;
  options.interrupt = stream.interrupt;
  options.space = space.space;
  const auto made = process_.card(space.card).create_stream(options);
  if (!made) return process_.world.find("create_stream(): " + text(made));
  stream.id = *made;
  ++space.streams;
  process_.streams.push_back(stream);
}

// With commands in flight or without; also with a deadline that a busy one may miss.
void Streams::destroy() {
  if (process_.streams.empty()) return;
  auto& world = process_.world;
  std::swap(process_.random.in(process_.streams), process_.streams.back());
  const auto stream = process_.streams.back();
  auto& card = process_.card(stream.card);
  if (transfers_.shares_event(stream) || process_.random.percent(30)) transfers_.finish();
  if (!transfers_.idle() && process_.random.percent(50)) {
    const auto soon = world.host.clock().now() + Picoseconds(1_us);
    const auto status = card.destroy_stream(stream.id, soon);
    if (!status && status.error().code != ErrorCode::kTimeout) {
      world.find("destroy_stream() of a busy stream: success or timeout expected, " + text(status));
    }
    if (!status) return;
  } else {
    const auto status = card.destroy_stream(stream.id, world.deadline());
    if (!status) world.find("destroy_stream() must succeed: " + text(status));
  }
  transfers_.forget_stream(stream);
  --stream.space->streams;
  process_.streams.pop_back();
}

void Streams::create_event() {
  if (process_.events.size() >= 6) return;
  const auto card = static_cast<unsigned>(process_.random.below(process_.world.cards.size()));
  const auto made = process_.card(card).create_event();
  if (!made) return process_.world.find("create_event(): " + text(made));
  process_.events.push_back({*made, card});
}

void Streams::destroy_event() {
  if (process_.events.empty()) return;
  std::swap(process_.random.in(process_.events), process_.events.back());
  const auto event = process_.events.back();
  const bool busy = !transfers_.idle() && process_.random.percent(50);
  if (!busy) transfers_.finish();
  const auto status = process_.card(event.card).destroy_event(event.id);
  if (!status && busy && status.error().code == ErrorCode::kInvalidArgument) return;
  if (!status) process_.world.find("destroy_event() must succeed: " + text(status));
  if (busy) transfers_.forget_event(event);
  process_.events.pop_back();
}

void Streams::destroy_all() {
  transfers_.finish();
  while (!process_.streams.empty()) destroy();
  while (!process_.events.empty()) destroy_event();
}

}  // namespace npu::attack
