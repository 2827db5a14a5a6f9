// SPDX-License-Identifier: Apache-2.0
// Races between the host and its cards, or between works of cards: two accesses to the same bytes,
// one of them a write, of which nothing says which comes first (docs/races.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/testing/export.hpp"

namespace npu::testkit {

enum class RaceKind : std::uint8_t {
  kHostRead,   // the host reads host memory that a card writes
  kHostWrite,  // the host writes host memory that a card reads or writes
  kFree,       // memory is freed that work of a card accesses
  kWork,       // works of two streams or queues access the same bytes, one of them writes
};

// "host read under a DMA write", ...
NPU_TESTING_API std::string_view to_string(RaceKind kind);

// One of the two accesses.
struct RacePlace {
  std::string who;   // "host", "card0 stream 3", "card0 queue 1"
  std::string what;  // "reads", "writes" or "frees"; of a card with its command: "H2D writes"
  std::uint64_t index = 0;  // of a card's command or entry, in its ring or queue
  Instant submitted;        // when its doorbell was written; of the host: when the access was
  Instant ended;            // when it ended on the card; of the host: as `submitted`
  std::string stack;  // of the doorbell, or of the access: "f (file.cpp:12) < g (file.cpp:40)"
};

struct Race {
  RaceKind kind = RaceKind::kWork;
  RacePlace earlier, later;  // by the run's times
  bool host_memory = false;
  // Of the first byte of the first time: on the bus; of a card's memory as the later access has it.
  std::uint64_t address = 0;
  Bytes bytes = 0;
  std::uint64_t times = 0;  // how often this pair of places was met
};

// One line.
NPU_TESTING_API std::string describe(const Race& race);

}  // namespace npu::testkit
