// SPDX-License-Identifier: Apache-2.0
// Messages with data that wait for one wire, by flow. Flows get the same number of bytes
// (start-time fair queueing), each in order. A message of a pool other than kTaken needs room in
// the receiver's buffer of that pool.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/link/message_queue.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class FairQueues {
 public:
  // Taken by the receiver whenever it comes: who asked for it has room.
  static constexpr unsigned kTaken = 0;
  static constexpr unsigned kPools = 64;

  struct Flow {
    std::uint64_t key;  // pool << 32 | number
    std::size_t index;  // in order of first use
    std::size_t active = 0;
    std::uint64_t virtual_time = 0;  // wire bytes it has had, on the common scale
    MessageQueue queue;

    unsigned pool() const { return static_cast<unsigned>(key >> 32); }
  };

  bool empty() const { return waiting_ == 0; }
  void push(tlm::tlm_generic_payload& message, unsigned pool, std::uint32_t number);
  // The flow that has had least; null: there is none, or none with room. Where that finds no room,
  // nothing of its pool goes first: small messages must not starve a large one.
  // `has_room(pool, message)`; asked once for a pool.
  template <class HasRoom>
  Flow* choose(HasRoom has_room) {
    std::uint64_t blocked = 0;
    for (;;) {
      Flow* const best = least(blocked);
      if (best == nullptr || best->pool() == kTaken) return best;
      if (has_room(best->pool(), best->queue.front())) return best;
      blocked |= std::uint64_t{1} << best->pool();
    }
  }
  // Its first message, which takes so many bytes of the wire.
  tlm::tlm_generic_payload& pop(Flow& flow, Bytes wire_bytes);

 private:
  Flow& flow_of(std::uint64_t key);
  Flow* least(std::uint64_t blocked);

  std::vector<std::unique_ptr<Flow>> flows_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // once there are many
  std::vector<Flow*> active_;                             // with messages, in no order
  std::size_t waiting_ = 0;
  std::uint64_t virtual_now_ = 0;
};

}  // namespace npu::model
