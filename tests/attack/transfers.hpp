// SPDX-License-Identifier: Apache-2.0
// Copies between host and device memory, several in flight on several streams. What they must
// leave is written to the shadows when they are submitted: commands of one stream execute in
// order, and those of different streams get ranges that do not meet.
#pragma once

#include <memory>
#include <vector>

#include "tests/attack/process.hpp"

namespace npu::attack {

// Host memory of one card that copies come from and go to.
struct HostBuffer {
  std::unique_ptr<platform::DmaMemory> memory;
  Shadow shadow;
  std::unique_ptr<platform::DmaMemory> read_only;  // the card may not write it; zeros
};

class Transfers {
 public:
  static constexpr Bytes kBuffer = 8_MiB;

  explicit Transfers(Process& process)
      : process_(process), random_(process.random), world_(process.world) {}

  Status open();  // the host buffers
  void submit_one(const StreamModel& stream);
  void submit_many(const StreamModel& stream);  // small ones, quickly one after the other
  // Waits for everything in flight and compares the host buffers.
  void finish();
  bool idle() const { return tickets_.empty(); }
  // Whether commands of the stream count an event up that others may count up too.
  bool shares_event(const StreamModel& stream) const;
  // Those of a stream that is gone; its destruction has waited for them.
  void forget_stream(const StreamModel& stream);
  // Those of an event that is gone: it has counted all of them.
  void forget_event(const EventModel& event);
  // The known bytes of [at, at + size) of a space, which must be readable.
  void verify(SpaceModel& space, std::uint64_t at, Bytes size);
  HostBuffer& buffer(unsigned card) { return buffers_[card]; }
  void close() { buffers_.clear(); }

 private:
  struct InFlight {
    driver::Ticket ticket;
    StreamModel stream;
    bool own_event = false;  // not the stream's
    const char* kind = "";
    Bytes size = 0;
  };
  struct Claim {
    const Shadow* shadow = nullptr;
    Bytes begin = 0;
    Bytes end = 0;
    bool write = false;
    bool by_cpu = false;
    unsigned card = 0;
    driver::StreamId stream;
  };
  struct Place {  // of one end of a copy
    std::uint64_t address = 0;
    std::vector<Piece> pieces;
    Bytes size = 0;
  };

  Place device_place(SpaceModel& space, bool write, Bytes limit);
  bool claim(const StreamModel& stream, const std::vector<Claim>& wanted);
  std::vector<Claim> claims(const StreamModel& stream, const Place& place, bool write) const;
  void host_copy(const StreamModel& stream, bool to_device, Bytes limit);
  void device_copy(const StreamModel& stream, Bytes limit);
  void send(const StreamModel& stream, const driver::DmaCommand& command, const char* kind);
  void wait_for(const InFlight& one);
  void compare_buffer(unsigned card);

  Process& process_;
  fuzz::Random& random_;
  World& world_;
  std::vector<HostBuffer> buffers_;
  std::vector<InFlight> tickets_;
  std::vector<Claim> claims_;
};

}  // namespace npu::attack
