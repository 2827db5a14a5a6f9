// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/peer_path.hpp"

#include <vector>

#include "npu/base/checked.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

using driver::DmaCommand;

Result<std::unique_ptr<PeerPath>> PeerPath::create(Context& context, PeerCard& from, PeerCard& to,
                                                   bool pull, Bytes size, Bytes window) {
  std::unique_ptr<PeerPath> path(
      new PeerPath(context, from, to, pull, *checked_align_up(size, driver::kPageSize)));
  if (auto ok = path->make_memory(); !ok) return forward_error(ok);
  auto stream = path->executor().create_stream();
  if (!stream) return forward_error(stream);
  path->stream_ = *stream;
  path->has_stream_ = true;
  for (auto [card, memory] :
       {std::pair{&from, &path->source_window_}, std::pair{&to, &path->destination_window_}}) {
    auto made = card->device->allocate_host(window);
    if (!made) return forward_error(made);
    *memory = std::move(*made);
  }
  return path;
}

Status PeerPath::make_memory() {
  auto& near = pull_ ? destination_ : source_;
  auto& far = pull_ ? source_ : destination_;
  for (auto [card, mapping] : {std::pair{&from_, &source_}, std::pair{&to_, &destination_}}) {
    auto& space = card->device->address_space();
    const auto memory = space.create_memory(size_);
    if (!memory) return forward_error(memory);
    mapping->memory = *memory;
    mapping->space = &space;
    if (auto ok = map(*mapping, size_); !ok) return ok;
  }
  const auto borrowed = near.space->import_memory(*far.space, far.memory);
  if (!borrowed) return forward_error(borrowed);
  borrowed_.memory = *borrowed;
  borrowed_.space = near.space;
  return map(borrowed_, size_);
}

Status PeerPath::map(Mapping& mapping, Bytes size) {
  auto& space = *mapping.space;
  const auto at = space.reserve(size);
  if (!at) return forward_error(at);
  mapping.at = *at;
  if (auto ok = space.map(*at, size, mapping.memory); !ok) return ok;
  return space.set_access(*at, size, driver::Access::kReadWrite);
}

// Nothing is in flight any more or a card is lost: an error here would tell nothing new.
void PeerPath::unmap(const Mapping& mapping) const {
  if (mapping.space == nullptr) return;
  if (mapping.at.value != 0) {
    static_cast<void>(mapping.space->unmap(mapping.at, size_));
    static_cast<void>(mapping.space->release(mapping.at));
  }
  static_cast<void>(mapping.space->release_memory(mapping.memory));
}

PeerPath::~PeerPath() {
  if (has_stream_) static_cast<void>(executor().destroy_stream(stream_, deadline_of(context_)));
  unmap(borrowed_);
  unmap(source_);
  unmap(destination_);
}

DmaCommand PeerPath::command(Bytes offset, Bytes size) const {
  const driver::ImportedAddress peer(borrowed_.at + offset);
  return pull_ ? DmaCommand::peer_to_device(peer, destination_.at + offset, size)
               : DmaCommand::device_to_peer(source_.at + offset, peer, size);
}

Status PeerPath::prepare(Bytes offset, Bytes size, std::uint64_t seed) {
  fill_pattern(source_window_->cpu().subspan(0, size), seed);
  return from_.device->copy(
      from_.stream, DmaCommand::host_to_device(source_window_->bus(), source_.at + offset, size),
      driver::WaitPolicy::kPolling, deadline_of(context_));
}

Status PeerPath::verify(Bytes offset, Bytes size, std::uint64_t seed, const std::string& what) {
  std::vector<std::byte> expected(size);
  fill_pattern({expected.data(), size}, seed);
  const auto found = destination_window_->cpu().subspan(0, size);
  fill_pattern(found, ~seed);  // so that old data cannot pass
  const auto read_back =
      DmaCommand::device_to_host(destination_.at + offset, destination_window_->bus(), size);
  if (auto ok = to_.device->copy(to_.stream, read_back, driver::WaitPolicy::kPolling,
                                 deadline_of(context_));
      !ok) {
    return ok;
  }
  return check_equal({expected.data(), size}, found, what);
}

}  // namespace npu::workloads
