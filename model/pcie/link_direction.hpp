// SPDX-License-Identifier: Apache-2.0
// One direction of a PCI Express link as a timeline: when TLPs start, when they arrive, and how
// the receiver's credits hold them up. Plain arithmetic, no SystemC.
// Sources: PCIe Base 4.0, 4.2.1 and 4.2.2 (8b/10b and 128b/130b encoding), 2.6 (flow control).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"

namespace npu::model {

// PCIe 2.1.1.1: messages are posted.
enum class TlpKind : std::uint8_t { kPosted, kNonPosted, kCompletion };
inline constexpr std::size_t kTlpKinds = 3;

// What one direction has carried. Differences of two snapshots describe what lies between them.
struct LinkStatistics {
  std::uint64_t tlps = 0;
  Bytes payload_bytes = 0;                       // data of TLPs
  Bytes header_bytes = 0;                        // framing and headers of TLPs
  Bytes dllp_bytes = 0;                          // ACK and UpdateFC
  Bytes replayed_bytes = 0;                      // of trains that were sent again
  unsigned bad_tlps = 0;                         // that made it so
  unsigned rollovers = 0;                        // trains that were sent again too often
  std::array<Bytes, kTlpKinds> bytes_by_kind{};  // payload and headers
  std::uint64_t busy = 0;                        // ps the wire carried any of these
  std::uint64_t credit_stall = 0;  // ps the wire stood idle with a TLP waiting for credits

  friend LinkStatistics operator-(LinkStatistics a, const LinkStatistics& b) {
    a.tlps -= b.tlps;
    a.payload_bytes -= b.payload_bytes;
    a.header_bytes -= b.header_bytes;
    a.dllp_bytes -= b.dllp_bytes;
    a.replayed_bytes -= b.replayed_bytes;
    a.bad_tlps -= b.bad_tlps;
    a.rollovers -= b.rollovers;
    for (std::size_t i = 0; i < kTlpKinds; ++i) a.bytes_by_kind[i] -= b.bytes_by_kind[i];
    a.busy -= b.busy;
    a.credit_stall -= b.credit_stall;
    return a;
  }
};

// The TLPs of one transaction in one direction; the payload is spread evenly over them.
struct TlpTrain {
  std::uint32_t count = 1;    // TLPs
  Bytes header = 12;          // bytes of each header: 12 or 16, and prefixes
  Bytes payload = 0;          // over all TLPs
  bool uses_credits = false;  // posted requests and completions do
  TlpKind kind = TlpKind::kNonPosted;
};

class LinkDirection {
 public:
  // Recovery without equalisation takes microseconds; assumed.
  static constexpr std::uint64_t kRecovery = 10'000'000;  // ps
  // `receiver_hold`: how long the receiver keeps a TLP in its buffer before its credits go back.
  LinkDirection(const LinkConfig& config, std::uint64_t receiver_hold);

  // Time on the wire of `bytes`, rounded up to 1 ps.
  std::uint64_t wire_time(Bytes bytes) const;
  // Bytes on the wire of a train, DLLPs included.
  Bytes wire_bytes(const TlpTrain& train) const;

  struct Slot {
    std::uint64_t start;    // first byte of the first TLP leaves
    std::uint64_t sent;     // last byte of the last TLP has left
    std::uint64_t arrival;  // last byte at the receiver's transaction layer
  };
  // Sends the train behind everything reserved before, not earlier than `now`; `now` never
  // decreases from call to call.
  Slot reserve(std::uint64_t now, const TlpTrain& train);
  // The receiver accepts nothing before `when`.
  void stall_until(std::uint64_t when);
  // What is reserved from now on goes at the rate of such a link; 1 <= generation <= 5, `lanes` a
  // power of two.
  void set_rate(unsigned generation, unsigned lanes);
  // The next train arrives damaged: the receiver sends a Nak, and the train is sent again. So often
  // as REPLAY_NUM counts, and the link goes to Recovery before the next try (PCIe 3.6.2.1).
  static constexpr unsigned kReplays = 4;
  void damage_next(unsigned times = 1) { damaged_ = times; }
  // When everything reserved so far has left.
  std::uint64_t free_at() const { return free_at_; }
  const LinkStatistics& statistics() const { return statistics_; }

 private:
  struct Return {  // credits on their way back
    std::uint64_t when;
    Bytes data;
  };
  std::uint64_t wait_for_credits(std::uint64_t now, Bytes data);
  void replay(Slot& slot, const TlpTrain& train);

  std::uint64_t propagation_;
  std::uint64_t credit_return_;  // arrival to credits back at the transmitter
  Bytes framing_;
  Bytes dllp_;
  std::uint64_t rate_;  // ps per byte, times 128 * lanes
  unsigned shift_;      // log2(128 * lanes)
  unsigned header_credits_;
  Bytes data_credits_;

  std::uint64_t free_at_ = 0;
  std::uint64_t stalled_until_ = 0;
  unsigned damaged_ = 0;         // times that the next train is
  std::vector<Return> returns_;  // ring of header_credits_ entries
  std::size_t oldest_ = 0;
  std::size_t in_flight_ = 0;
  Bytes data_in_flight_ = 0;
  LinkStatistics statistics_;
};

}  // namespace npu::model
