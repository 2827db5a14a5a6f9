// SPDX-License-Identifier: Apache-2.0
// Blocks of device memory and events that libnpudrv has given out and not got back, by what it
// tells a timeline. What is left when it closes a card is left for good.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "machine/testing/object_ledger.hpp"
#include "npu/platform/trace.hpp"

namespace npu::testkit {

class DriverObjects : public platform::TraceSink {
 public:
  // `track_name` of a TraceEvent::track.
  explicit DriverObjects(std::function<std::string(std::uint32_t)> track_name)
      : track_name_(std::move(track_name)) {}

  void on_event(const platform::TraceEvent& event) override;
  // Left by drivers that have closed their card, and by those that have not.
  std::vector<Leak> left() const;

 private:
  struct Block {
    bool pinned = false;
    Bytes size = 0;
    Instant made;
  };
  struct Card {
    std::map<std::uint64_t, Block> blocks;  // by device-local address
    std::int64_t events = 0;
  };

  Card& card_of(std::uint32_t track);
  static void block(Card& card, const platform::TraceEvent& event);
  void call(Card& card, const platform::TraceEvent& event);
  void opened(const platform::TraceEvent& event);
  static void note(ObjectLedger& ledger, const Card& card);

  std::function<std::string(std::uint32_t)> track_name_;
  std::map<std::uint32_t, std::string> names_;  // by track: "driver0"
  std::map<std::string, Card> cards_;
  ObjectLedger closed_;
};

}  // namespace npu::testkit
