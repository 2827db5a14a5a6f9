// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/transfers.hpp"

#include <algorithm>
#include <cstring>

namespace npu::attack {

using driver::DmaCommand;
using driver::WaitPolicy;

Status Transfers::open() {
  for (auto& card : world_.cards) {
    auto memory = card->allocate_host(kBuffer);
    if (!memory) return forward_error(memory);
    HostBuffer buffer;
    buffer.memory = std::move(*memory);
    auto read_only = card->allocate_host(64_KiB, platform::DmaDirection::kDeviceReads);
    if (!read_only) return forward_error(read_only);
    buffer.read_only = std::move(*read_only);
    buffer.shadow.write(0, buffer.memory->cpu());
    buffers_.push_back(std::move(buffer));
  }
  return {};
}

// A range that a copy may use, of at least a byte; none: no such memory was met.
Transfers::Place Transfers::device_place(SpaceModel& space, bool write, Bytes limit) {
  Place place;
  for (int attempt = 0; attempt < 4 && !space.pages.empty(); ++attempt) {
    const auto page = process_.any(space.pages)->first;
    const Bytes inside = random_.percent(30) ? 0 : random_.below(kPageSize);
    place.address = page + inside;
    place.size = space.accessible(place.address, limit, write);
    if (place.size == 0) continue;
    place.pieces = space.pieces(place.address, place.size);
    return place;
  }
  place.size = 0;
  return place;
}

std::vector<Transfers::Claim> Transfers::claims(const StreamModel& stream, const Place& place,
                                                bool write) const {
  std::vector<Claim> result;
  for (const auto& piece : place.pieces) {
    result.push_back({&piece.block->shadow, piece.offset, piece.offset + piece.size, write, false,
                      stream.card, stream.id});
  }
  return result;
}

// False: something in flight is in the way.
bool Transfers::claim(const StreamModel& stream, const std::vector<Claim>& wanted) {
  for (const auto& mine : wanted) {
    for (const auto& other : claims_) {
      const bool meet = mine.shadow == other.shadow && mine.begin < other.end &&
                        other.begin < mine.end && (mine.write || other.write);
      const bool ordered = !mine.by_cpu && other.stream == stream.id && other.card == stream.card;
      if (meet && !ordered) return false;
    }
  }
  claims_.insert(claims_.end(), wanted.begin(), wanted.end());
  return true;
}

void Transfers::host_copy(const StreamModel& stream, bool to_device, Bytes limit) {
  auto& host = buffers_[stream.card];
  const auto place = device_place(*stream.space, to_device, limit);
  if (place.size == 0) return;
  const Bytes at = random_.below(kBuffer - place.size + 1);
  const bool fresh = to_device && random_.percent(80);
  auto wanted = claims(stream, place, to_device);
  Claim of_host{&host.shadow, at, at + place.size, !to_device, false, stream.card, stream.id};
  of_host.by_cpu = fresh;
  of_host.write = of_host.write || fresh;
  wanted.push_back(of_host);
  if (!claim(stream, wanted)) return;
  claims_.back().by_cpu = false;
  if (fresh) {
    auto* bytes = host.memory->cpu().data + at;
    for (Bytes i = 0; i < place.size; i += 8) {
      const auto word = random_.bits();
      std::memcpy(bytes + i, &word, std::min<Bytes>(8, place.size - i));
    }
    host.shadow.write(at, {bytes, place.size});
  }
  Bytes done = 0;
  for (const auto& piece : place.pieces) {
    auto& device = piece.block->shadow;
    if (to_device) device.copy(piece.offset, host.shadow, at + done, piece.size);
    if (!to_device) host.shadow.copy(at + done, device, piece.offset, piece.size);
    done += piece.size;
  }
  const auto bus = host.memory->bus() + at;
  const DeviceAddress device{place.address};
  send(stream,
       to_device ? DmaCommand::host_to_device(bus, device, place.size)
                 : DmaCommand::device_to_host(device, bus, place.size),
       to_device ? "H2D" : "D2H");
}

void Transfers::device_copy(const StreamModel& stream, Bytes limit) {
  const auto from = device_place(*stream.space, false, limit);
  auto to = device_place(*stream.space, true, from.size);
  if (from.size == 0 || to.size == 0) return;
  auto source = from;
  source.size = to.size;
  source.pieces = stream.space->pieces(from.address, to.size);
  // What a copy onto itself leaves is nobody's promise.
  bool peer = false;
  for (const auto& a : source.pieces) {
    peer = peer || a.block->card != stream.card;
    for (const auto& b : to.pieces) {
      peer = peer || b.block->card != stream.card;
      if (a.block == b.block && a.offset < b.offset + b.size && b.offset < a.offset + a.size) {
        return;
      }
    }
  }
  for (std::size_t i = 0; i < to.pieces.size(); ++i) {  // within the destination
    for (std::size_t k = 0; k < i; ++k) {
      const auto &a = to.pieces[i], &b = to.pieces[k];
      if (a.block == b.block && a.offset < b.offset + b.size && b.offset < a.offset + a.size) {
        return;
      }
    }
  }
  auto wanted = claims(stream, source, false);
  const auto written = claims(stream, to, true);
  wanted.insert(wanted.end(), written.begin(), written.end());
  if (!claim(stream, wanted)) return;
  auto read = source.pieces.begin();
  auto write = to.pieces.begin();
  for (Bytes done = 0, used = 0, filled = 0; done < to.size;) {
    const Bytes size = std::min(read->size - used, write->size - filled);
    write->block->shadow.copy(write->offset + filled, read->block->shadow, read->offset + used,
                              size);
    done += size, used += size, filled += size;
    if (used == read->size) ++read, used = 0;
    if (filled == write->size) ++write, filled = 0;
  }
  const DeviceAddress a{from.address}, b{to.address};
  send(stream,
       peer ? DmaCommand::device_to_peer(a, driver::ImportedAddress(b), to.size)
            : DmaCommand::device_to_device(a, b, to.size),
       peer ? "P2P" : "D2D");
}

void Transfers::send(const StreamModel& stream, const DmaCommand& command, const char* kind) {
  driver::SubmitOptions options;
  options.interrupt = random_.percent(80);
  bool own = false;
  for (const auto& event : process_.events) {
    if (event.card != stream.card || !random_.percent(20)) continue;
    options.event = event.id;
    own = true;
  }
  world_.count(kind);
  const auto ticket = process_.card(stream.card).submit(stream.id, command, options);
  if (!ticket) return world_.find(fmt::format("{}: submit() said {}", kind, text(ticket)));
  tickets_.push_back({*ticket, stream, own, kind, command.size()});
}

void Transfers::submit_one(const StreamModel& stream) {
  const Bytes limit = process_.any_size(4_MiB);
  const auto choice = random_.below(3);
  if (choice == 2) return device_copy(stream, limit);
  host_copy(stream, choice == 0, limit);
}

void Transfers::submit_many(const StreamModel& stream) {
  for (auto left = random_.below(60); left > 0; --left) {
    const Bytes limit = 1 + random_.below(300);
    const auto choice = random_.below(3);
    if (choice == 2) {
      device_copy(stream, limit);
    } else {
      host_copy(stream, choice == 0, limit);
    }
  }
}

void Transfers::wait_for(const InFlight& one) {
  auto& card = process_.card(one.stream.card);
  auto policy = random_.of({WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive});
  if (policy == WaitPolicy::kInterrupt && !one.ticket.interrupt) policy = WaitPolicy::kPolling;
  const auto status = card.wait(one.ticket, policy, world_.deadline());
  if (!status) {
    return world_.find(fmt::format("{} of {} bytes on stream {} must succeed, wait({}) said {}",
                                   one.kind, one.size, one.stream.id.value, int(policy),
                                   text(status)));
  }
  const auto done = card.is_done(one.ticket);
  if (!done || !*done) world_.find("a command that was waited for is not done");
}

void Transfers::finish() {
  // In any order: a wait must not depend on others.
  while (!tickets_.empty()) {
    std::swap(random_.in(tickets_), tickets_.back());
    const auto one = tickets_.back();
    tickets_.pop_back();
    wait_for(one);
  }
  for (unsigned card = 0; card < buffers_.size(); ++card) compare_buffer(card);
  claims_.clear();
}

bool Transfers::shares_event(const StreamModel& stream) const {
  return std::any_of(tickets_.begin(), tickets_.end(), [&](const InFlight& one) {
    return one.own_event && one.stream.id == stream.id && one.stream.card == stream.card;
  });
}

void Transfers::forget_stream(const StreamModel& stream) {
  const auto gone = [&](const InFlight& one) {
    return one.stream.id == stream.id && one.stream.card == stream.card;
  };
  tickets_.erase(std::remove_if(tickets_.begin(), tickets_.end(), gone), tickets_.end());
}

void Transfers::forget_event(const EventModel& event) {
  const auto gone = [&](const InFlight& one) {
    return one.ticket.event == event.id && one.stream.card == event.card;
  };
  tickets_.erase(std::remove_if(tickets_.begin(), tickets_.end(), gone), tickets_.end());
}

void Transfers::compare_buffer(unsigned card) {
  bool touched = false;
  for (const auto& claim : claims_) touched = touched || claim.shadow == &buffers_[card].shadow;
  if (!touched) return;
  const auto& buffer = buffers_[card];
  const auto at = buffer.shadow.mismatch(0, buffer.memory->cpu(), world_.compared);
  if (!at) return;
  world_.find(fmt::format("host memory of card {} differs at offset {:#x}: {:#x} found", card, *at,
                          unsigned(buffer.memory->cpu().data[*at])));
  for (const auto& claim : claims_) {
    if (claim.shadow != &buffer.shadow || *at < claim.begin || *at >= claim.end) continue;
    world_.findings.back() +=
        fmt::format("; in {} [{:#x}, {:#x}) of stream {}", claim.write ? "D2H" : "H2D", claim.begin,
                    claim.end, claim.stream.value);
  }
  buffers_[card].shadow.write(0, buffer.memory->cpu());  // reported once
}

void Transfers::verify(SpaceModel& space, std::uint64_t at, Bytes size) {
  auto& card = process_.card(space.card);
  auto& buffer = buffers_[space.card];
  driver::StreamOptions options;
  options.space = space.space;
  const auto stream = card.create_stream(options);
  if (!stream) return world_.find("a stream to read with: " + text(stream));
  for (const auto& piece : space.pieces(at, size)) {
    for (const auto& run : piece.block->shadow.known(piece.offset, piece.size)) {
      const Bytes length = run.end - run.begin;
      const auto from = at + (run.begin - piece.offset);
      const auto command =
          DmaCommand::device_to_host(DeviceAddress{from}, buffer.memory->bus(), length);
      const auto status = card.copy(*stream, command, WaitPolicy::kAdaptive, world_.deadline());
      if (!status) {
        world_.find(fmt::format("reading back {} bytes at {:#x}: {}", length, from, text(status)));
        continue;
      }
      const ConstByteSpan bytes{buffer.memory->cpu().data, length};
      const auto wrong = piece.block->shadow.mismatch(run.begin, bytes, world_.compared);
      if (wrong) {
        world_.find(
            fmt::format("device memory of card {} at {:#x} of VMID {} differs (page {} of "
                        "its block, offset {:#x})",
                        space.card, from + (*wrong - run.begin), space.space->vmid(),
                        *wrong / kPageSize, *wrong % kPageSize));
        piece.block->shadow.forget(run.begin, length);  // reported once
      }
      buffer.shadow.write(0, bytes);
    }
    at += piece.size;
  }
  const auto gone = card.destroy_stream(*stream, world_.deadline());
  if (!gone) world_.find("destroy_stream() after reading back: " + text(gone));
}

}  // namespace npu::attack
