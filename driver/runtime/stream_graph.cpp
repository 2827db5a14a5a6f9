// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/stream_graph_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "driver/runtime/launch_entry.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
StreamGraph::StreamGraph(ArgumentPool& arguments) : impl_(std::make_shared<Impl>(arguments)) {}
StreamGraph::~StreamGraph() = default;

std::size_t StreamGraph::launches() const {
  return impl_->launches.size();
}

std::size_t StreamGraph::entries() const {
  return impl_->captured.size();
}

StreamGraph::Impl::~Impl() {
  for (const auto& piece : pieces) pool.give_back(piece.memory);
}

void StreamGraph::Impl::add(const abi::QueueEntry* entries, std::size_t count, Kept keep) {
  const auto kind = captured.empty() ? LaunchCores::kVector : captured.back().kind;
  for (std::size_t i = 0; i < count; ++i) captured.push_back({kind, entries[i]});
  if (keep != nullptr) kept.push_back(std::move(keep));
}

Status StreamGraph::Impl::add(const KernelLaunch& launch) {
  Launch added{captured.size(), {}, launch.module};
  if (auto written = write(launch, added.place); !written) return written;
  changed(added.place, launch.bytes);
  captured.push_back({launch.cores, entry_of(launch, added.place)});
  launches.push_back(std::move(added));
  return {};
}

Result<DeviceAddress> StreamGraph::Impl::replace(std::size_t number, const KernelLaunch& launch,
                                                 bool copies) {
  auto& old = launches[number];
  if (auto written = write(launch, old.place); !written) return forward_error(written);
  if (copies) changed(old.place, launch.bytes);
  captured[old.work] = {launch.cores, entry_of(launch, old.place)};
  old.module = launch.module;
  if (launch.bytes == 0) return DeviceAddress{};
  return pieces[old.place.piece].memory.device + old.place.begin;
}

Status StreamGraph::Impl::has(std::size_t number) const {
  if (number < launches.size()) return {};
  return fail(ErrorCode::kOutOfRange, fmt::format("the graph has {} launches", launches.size()));
}

bool StreamGraph::Impl::has_room_for(std::size_t number, const KernelLaunch& launch) const {
  const auto& old = launches[number];
  if (launch.bytes > old.place.room) return false;
  const auto& there = captured[old.work];
  const auto entry = entry_of(launch, old.place);
  return there.kind == launch.cores && std::memcmp(&entry, &there.entry, sizeof entry) == 0;
}

Status StreamGraph::Impl::write(const KernelLaunch& launch, Place& place) {
  if (launch.bytes == 0) return {};
  if (launch.bytes > place.room) {
    const Bytes room = align_down(launch.bytes + kArgumentAlignment - 1, kArgumentAlignment);
    if (pieces.empty() || pieces.back().used + room > ArgumentPool::kPiece) {
      const auto piece = pool.take();
      if (!piece) return forward_error(piece);
      pieces.push_back({*piece, 0, 0, 0});
    }
    auto& piece = pieces.back();
    place = {pieces.size() - 1, piece.used, room};
    piece.used += room;
  }
  const auto& memory = pieces[place.piece].memory;
  return launch.write(memory.host.subspan(place.begin, launch.bytes), memory.device + place.begin);
}

void StreamGraph::Impl::changed(const Place& place, Bytes bytes) {
  if (bytes == 0) return;
  auto& piece = pieces[place.piece];
  const bool clean = piece.changed_begin == piece.changed_end;
  const Bytes end = place.begin + bytes;
  piece.changed_begin = clean ? place.begin : std::min(piece.changed_begin, place.begin);
  piece.changed_end = clean ? end : std::max(piece.changed_end, end);
}

abi::QueueEntry StreamGraph::Impl::entry_of(const KernelLaunch& launch, const Place& place) const {
  DeviceAddress arguments;
  if (launch.bytes != 0) arguments = pieces[place.piece].memory.device + place.begin;
  return driver::entry_of(launch, arguments);
}

std::vector<LaneWork> StreamGraph::Impl::copies() {
  const auto arrived = last_run.query();
  std::vector<LaneWork> all;
  for (auto& piece : pieces) {
    if (!arrived) piece.changed_begin = 0, piece.changed_end = piece.used;
    const Bytes size = piece.changed_end - piece.changed_begin;
    if (size == 0) continue;
    all.push_back({captured.front().kind,
                   entries::copy_to_device(piece.memory.bus + piece.changed_begin,
                                           piece.memory.device + piece.changed_begin, size)});
  }
  run_copies = !all.empty();
  return all;
}

void StreamGraph::Impl::submitted(const StreamMark& mark) {
  for (auto& piece : pieces) piece.changed_begin = piece.changed_end = 0;
  last_run = mark;
}

}  // namespace npu::driver
