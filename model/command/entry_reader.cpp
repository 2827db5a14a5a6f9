// SPDX-License-Identifier: Apache-2.0
#include "model/command/entry_reader.hpp"

#include <algorithm>
#include <cstring>

#include "model/core/bus_page.hpp"

namespace npu::model {

EntryReader::EntryReader(CommandShared& shared, std::uint32_t track, Owner& owner)
    : shared_(shared),
      track_(track),
      owner_(owner),
      buffer_(2 * std::size_t{shared.config.command.fetch_depth}) {}

void EntryReader::begin(HardwareQueue& queue) {
  queue_ = &queue;
  fetched_ = queue.mqd.read_index;
}

void EntryReader::stop() {
  ++generation_;
  decoding_ = false;
}

void EntryReader::reset() {
  stop();
  fetching_ = false;
}

void EntryReader::fetch() {
  if (fetching_) return;
  const auto& mqd = queue_->mqd;
  const std::uint64_t size = queue_->ring_size();
  const std::uint64_t place = fetched_ & (size - 1);
  const std::uint64_t address = mqd.ring_base + abi::kQueueEntrySize * place;
  const bool host = (mqd.flags & abi::kQueueRingHost) != 0;
  const Bytes request =
      host ? std::min<Bytes>(shared_.config.link.max_read_request, kBusPage) : kBusPage;
  std::uint64_t entries = std::min<std::uint64_t>(mqd.write_index - fetched_, size - place);
  entries = std::min<std::uint64_t>(entries, shared_.config.command.fetch_depth);
  entries = std::min<std::uint64_t>(
      entries, std::min(request, kBusPage - address % kBusPage) / abi::kQueueEntrySize);
  const std::uint64_t room = buffer_.size() - (fetched_ - mqd.read_index);
  if (entries == 0 || room < entries) return;
  fetching_ = true;
  ++shared_.statistics.fetches;
  const auto cause = shared_.function(*queue_).cause(*queue_, fetched_);
  shared_.memory.read<&EntryReader::fetched>(queue_->place(abi::kQueueRingHost, address),
                                             entries * abi::kQueueEntrySize, cause, *this,
                                             fetched_);
}

void EntryReader::fetched(const Answer& answer, std::uint64_t first) {
  fetching_ = false;
  if (!owner_.takes_entries(answer)) return;
  const std::uint64_t entries = answer.length / abi::kQueueEntrySize;
  for (std::uint64_t i = 0; i < entries; ++i) {
    std::memcpy(&buffer_[(first + i) % buffer_.size()], answer.data + i * abi::kQueueEntrySize,
                abi::kQueueEntrySize);
  }
  fetched_ = first + entries;
  shared_.sim.emit(track_, platform::Activity::kQueueFetch, answer.issued, sim_now(),
                   shared_.function(*queue_).cause(*queue_, first), answer.length, entries);
  owner_.entries_read();
}

void EntryReader::decode() {
  decoding_ = true;
  decode_since_ = sim_now();
  shared_.sim.agenda.at<&EntryReader::decoded>(sim_now() + ticks(shared_.config.command.decode),
                                               *this, generation_);
}

void EntryReader::decoded(std::uint64_t generation) {
  if (generation != generation_) return;
  decoding_ = false;
  owner_.entry_decoded(buffer_[queue_->mqd.read_index % buffer_.size()], decode_since_);
}

}  // namespace npu::model
