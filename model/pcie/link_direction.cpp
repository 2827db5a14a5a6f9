// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/link_direction.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

// Picoseconds per byte of one lane, times 128: 10 symbols per byte at 2.5 and 5 GT/s, 8 * 130/128
// above.
std::uint64_t lane_rate(unsigned generation) {
  constexpr std::uint64_t kRates[] = {512'000, 256'000, 130'000, 65'000, 32'500};
  assert(generation >= 1 && generation <= 5 && "link generation");
  return kRates[generation - 1];
}

// Flow control counts data in units of 4 DW (PCIe 2.6.1).
constexpr Bytes kCreditUnit = 16;
// A DLLP with its framing (PCIe 4.2.2.1).
constexpr Bytes kNak = 8;

std::uint64_t count(Picoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

LinkDirection::LinkDirection(const LinkConfig& config, std::uint64_t receiver_hold)
    : propagation_(count(config.propagation)),
      credit_return_(receiver_hold + count(config.credit_update) + propagation_),
      framing_(config.tlp_framing),
      dllp_(config.dllp_per_tlp),
      header_credits_(config.header_credits),
      data_credits_(config.data_credits / kCreditUnit * kCreditUnit),
      returns_(config.header_credits) {
  set_rate(config.generation, config.lanes);
  assert(header_credits_ > 0 && data_credits_ >= config.max_payload && "link credits");
}

void LinkDirection::set_rate(unsigned generation, unsigned lanes) {
  assert(is_power_of_two(lanes) && "link lanes");
  rate_ = lane_rate(generation);
  shift_ = 7 + floor_log2(lanes);
}

std::uint64_t LinkDirection::wire_time(Bytes bytes) const {
  return (bytes * rate_ + (std::uint64_t{1} << shift_) - 1) >> shift_;
}

Bytes LinkDirection::wire_bytes(const TlpTrain& train) const {
  return train.count * (framing_ + train.header + dllp_) + train.payload;
}

// The time, not before `now`, at which one header and `data` bytes of credit are there.
std::uint64_t LinkDirection::wait_for_credits(std::uint64_t now, Bytes data) {
  const auto give_back_oldest = [this] {
    data_in_flight_ -= returns_[oldest_].data;
    oldest_ = oldest_ + 1 == returns_.size() ? 0 : oldest_ + 1;
    --in_flight_;
  };
  while (in_flight_ > 0 && returns_[oldest_].when <= now) give_back_oldest();
  while (in_flight_ == header_credits_ || data_in_flight_ + data > data_credits_) {
    now = std::max(now, returns_[oldest_].when);
    give_back_oldest();
  }
  return now;
}

LinkDirection::Slot LinkDirection::reserve(std::uint64_t now, const TlpTrain& train) {
  std::uint64_t base = std::max({now, free_at_, stalled_until_});
  Slot slot{base, base, base};
  Bytes sent = 0;          // since `base`
  Bytes payload_sent = 0;  // since the start
  for (std::uint32_t i = 0; i < train.count; ++i) {
    const bool last = i + 1 == train.count;  // most are alone, and a division would be felt
    const Bytes payload_end = last ? train.payload : train.payload * (i + 1) / train.count;
    const Bytes payload = payload_end - payload_sent;
    const Bytes credits = ceil_div(payload, kCreditUnit) * kCreditUnit;
    const std::uint64_t earliest = base + wire_time(sent);
    const std::uint64_t start = train.uses_credits ? wait_for_credits(earliest, credits) : earliest;
    if (start > earliest) {
      statistics_.credit_stall += start - earliest;
      statistics_.busy += earliest - base;
      base = start;
      sent = 0;
    }
    if (i == 0) slot.start = start;
    sent += framing_ + train.header + dllp_ + payload;
    payload_sent = payload_end;
    slot.sent = base + wire_time(sent);
    if (train.uses_credits) {
      const std::size_t next = oldest_ + in_flight_;
      returns_[next < returns_.size() ? next : next - returns_.size()] = {
          slot.sent + propagation_ + credit_return_, credits};
      ++in_flight_;
      data_in_flight_ += credits;
    }
  }
  statistics_.busy += slot.sent - base;
  if (damaged_ != 0) replay(slot, train);
  slot.arrival = slot.sent + propagation_;
  free_at_ = slot.sent;
  statistics_.tlps += train.count;
  statistics_.payload_bytes += train.payload;
  statistics_.header_bytes += train.count * (framing_ + train.header);
  statistics_.dllp_bytes += train.count * dllp_;
  statistics_.bytes_by_kind[static_cast<std::size_t>(train.kind)] +=
      train.payload + train.count * (framing_ + train.header);
  return slot;
}

// The Nak comes back when the last byte has arrived (PCIe 3.6.2.1); what is sent meanwhile is
// discarded, and sent again behind it, which the order of the trains says already.
void LinkDirection::replay(Slot& slot, const TlpTrain& train) {
  const unsigned times = std::exchange(damaged_, 0);
  const Bytes bytes = wire_bytes(train);
  std::uint64_t later = times * (2 * propagation_ + wire_time(kNak) + wire_time(bytes));
  if (times >= kReplays) {
    later += kRecovery;
    ++statistics_.rollovers;
  }
  slot.sent += later;
  const std::size_t held = train.uses_credits ? std::min<std::size_t>(train.count, in_flight_) : 0;
  for (std::size_t i = in_flight_ - held; i < in_flight_; ++i) {
    returns_[(oldest_ + i) % returns_.size()].when += later;
  }
  statistics_.bad_tlps += times;
  statistics_.replayed_bytes += times * bytes;
  statistics_.busy += times * wire_time(bytes);
}

void LinkDirection::stall_until(std::uint64_t when) {
  stalled_until_ = std::max(stalled_until_, when);
}

}  // namespace npu::model
