// SPDX-License-Identifier: Apache-2.0
// What a piece of driver did to the machine: every access through its platform, in order, with the
// exact time. Made by Machine::accesses(); the matchers of matchers.hpp count in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/platform/pci.hpp"
#include "npu/testing/export.hpp"

// Not npu::testing, which would hide GoogleTest's ::testing from code in namespace npu.
namespace npu::testkit {

enum class AccessKind : std::uint8_t {
  kMmioRead,        // a load from a BAR: a round trip over the link
  kMmioWrite,       // a store into an uncached mapping: one posted write over the link
  kCombiningStore,  // a store into a write combining mapping; neighbours leave as one write
  kConfigRead,
  kConfigWrite,
  kWriteBarrier,
  kReadBarrier,
  kPoll,       // rounds of a poll loop (Clock::relax), see Access::times
  kInterrupt,  // an MSI-X message has arrived at the host
};
inline constexpr std::size_t kAccessKinds = 9;

NPU_TESTING_API std::vector<AccessKind> all_access_kinds();
// "MMIO read", "poll", ...
NPU_TESTING_API std::string_view to_string(AccessKind kind);
// Of their number in a report: "mmio_reads", "polls", ...
NPU_TESTING_API std::string metric_name(AccessKind kind);

struct Access {
  AccessKind kind = AccessKind::kMmioRead;
  Instant begin;  // simulated time at which the driver made it
  Instant end;    // and had done with it; a posted write arrives later
  // MMIO, configuration and interrupts only. `name` is the register's name in the ABI table
  // ("DMA_DOORBELL", "EVENT[3]", "STREAM[0].STREAM_CONTROL"), else the area it lies in.
  std::string name;
  platform::Bdf bdf;
  unsigned bar = 0;         // MMIO only
  Bytes offset = 0;         // in the BAR, or in configuration space
  unsigned width = 0;       // bytes
  std::uint64_t value = 0;  // read or written; of an interrupt the message data
  std::uint64_t times = 1;  // looks that a poll loop took meanwhile; 1 for everything else
};

// "1138.116636 us  MMIO read 4 bytes  DMA_CONSUMER_INDEX (01:00.0 BAR0+0x1008) = 0x7, 228.976 ns"
NPU_TESTING_API std::string describe(const Access& access);

// Accesses of all host tasks during a call. The counts are of all, however many there were; the
// list has the first kListed of them.
class NPU_TESTING_API Accesses {
 public:
  static constexpr std::size_t kListed = 10'000;

  void add(Access access);
  // How many of a kind; polls count as often as they looked.
  std::uint64_t count(AccessKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  // The same, of one name only.
  std::uint64_t count(AccessKind kind, const std::string& name) const;
  const std::vector<Access>& list() const { return list_; }
  Instant begin() const { return begin_; }
  Instant end() const { return end_; }
  Picoseconds elapsed() const { return end_ - begin_; }
  void set_times(Instant begin, Instant end);
  // Counts of each kind that occurred, on one line.
  std::string summary() const;
  // One line per access of the given kinds, the first `most` of them.
  std::string text(const std::vector<AccessKind>& kinds, std::size_t most = 40) const;

 private:
  std::array<std::uint64_t, kAccessKinds> counts_{};
  std::map<std::pair<AccessKind, std::string>, std::uint64_t> by_name_;
  std::vector<Access> list_;
  std::uint64_t added_ = 0;
  Instant begin_, end_;
};

// What GoogleTest prints of a value: its summary. The matchers list accesses.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
NPU_TESTING_API void PrintTo(const Accesses& accesses, std::ostream* out);

// Whether `name` can be the name of an access: a register of the ABI or an area that is named.
NPU_TESTING_API bool is_access_name(std::string_view name);

}  // namespace npu::testkit
