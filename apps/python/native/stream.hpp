// SPDX-License-Identifier: Apache-2.0
// DMA of a card: host memory, streams, events, and the tickets of commands.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/python/native/card.hpp"

namespace npu::python {

// Memory of the host that the card reaches; lives until nobody refers to it.
class HostMemory {
 public:
  static std::shared_ptr<HostMemory> allocate(std::shared_ptr<Card> card, Bytes size);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  platform::DmaMemory& memory() { return *memory_; }

 private:
  HostMemory(std::shared_ptr<Card> card, std::unique_ptr<platform::DmaMemory> memory)
      : card_(std::move(card)), memory_(std::move(memory)) {
    card_->count_host_memory(1);
  }
  std::shared_ptr<Card> card_;
  std::unique_ptr<platform::DmaMemory> memory_;
};

class Event {
 public:
  explicit Event(std::shared_ptr<Card> card);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  driver::EventId id() const { return id_; }

 private:
  std::shared_ptr<Card> card_;
  driver::EventId id_;
};

class CopyTicket {
 public:
  CopyTicket(std::shared_ptr<Card> card, driver::Ticket ticket)
      : card_(std::move(card)), ticket_(ticket) {}
  bool done();
  // `policy`: polling, interrupt, adaptive; ValueError.
  void wait(const std::string& policy, std::int64_t timeout_ps);
  std::int64_t submitted() const { return ticket_.submitted.since_power_up().count(); }

 private:
  std::shared_ptr<Card> card_;
  driver::Ticket ticket_;
};

class Stream {
 public:
  Stream(std::shared_ptr<Card> card, bool interrupt);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  unsigned id() const { return id_.value; }
  // `opcode`: h2d, d2h, d2d, p2p; bus addresses for the host's side. `event`: null, the stream's.
  CopyTicket submit(const std::string& opcode, std::uint64_t source, std::uint64_t destination,
                    Bytes size, const Event* event);
  void close(std::int64_t timeout_ps);

 private:
  std::shared_ptr<Card> card_;
  driver::StreamId id_;
  bool closed_ = false;
};

// A time of the platform's clock; no end of time is never.
Instant deadline_in(platform::Platform& host, std::int64_t timeout_ps);

}  // namespace npu::python
