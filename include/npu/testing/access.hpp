// SPDX-License-Identifier: Apache-2.0
// The accesses of a driver to the machine through its platform, in order, with exact times.
// Machine::accesses() records them, and the matchers of matchers.hpp count them.
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

// npu::testing would hide GoogleTest's ::testing from code in namespace npu.
namespace npu::testkit {

enum class AccessKind : std::uint8_t {
  kMmioRead,        // a load from a BAR: a round trip over the link
  kMmioWrite,       // a store into an uncached mapping: one posted write over the link
  kCombiningStore,  // a store into a write combining mapping; neighbours may become one write
  kConfigRead,
  kConfigWrite,
  kWriteBarrier,
  kReadBarrier,
  kPoll,       // rounds of a poll loop (Clock::relax), see Access::times
  kInterrupt,  // an MSI-X message that arrived at the host
};
inline constexpr std::size_t kAccessKinds = 9;

NPU_TESTING_API std::vector<AccessKind> all_access_kinds();
// "MMIO read", "poll", ...
NPU_TESTING_API std::string_view to_string(AccessKind kind);
// The name of their count in a report: "mmio_reads", "polls", ...
NPU_TESTING_API std::string metric_name(AccessKind kind);

struct Access {
  AccessKind kind = AccessKind::kMmioRead;
  Instant begin;  // simulated time of the access
  Instant end;    // its end for the driver; a posted write arrives later
  // The following members are for MMIO, configuration accesses and interrupts only. `name`: the
  // register in the ABI table ("DMA_DOORBELL", "EVENT[3]", "STREAM[0].STREAM_CONTROL"), else the
  // area.
  std::string name;
  platform::Bdf bdf;
  unsigned bar = 0;         // MMIO only
  Bytes offset = 0;         // in the BAR, or in configuration space
  unsigned width = 0;       // bytes
  std::uint64_t value = 0;  // read or written; of an interrupt: message data
  std::uint64_t times = 1;  // rounds of a poll loop; else 1
};

// "1138.116636 us  MMIO read 4 bytes  DMA_CONSUMER_INDEX (01:00.0 BAR0+0x1008) = 0x7, 228.976 ns"
NPU_TESTING_API std::string describe(const Access& access);

// Accesses of all host tasks during a call. The counts include all accesses, the list only the
// first kListed.
class NPU_TESTING_API Accesses {
 public:
  static constexpr std::size_t kListed = 10'000;

  void add(Access access);
  // Number of accesses of a kind; of polls: number of rounds.
  std::uint64_t count(AccessKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  // The same for one name.
  std::uint64_t count(AccessKind kind, const std::string& name) const;
  const std::vector<Access>& list() const { return list_; }
  Instant begin() const { return begin_; }
  Instant end() const { return end_; }
  Picoseconds elapsed() const { return end_ - begin_; }
  void set_times(Instant begin, Instant end);
  // One line with the counts of all kinds that occurred.
  std::string summary() const;
  // A line for each access of the given kinds, at most `most`.
  std::string text(const std::vector<AccessKind>& kinds, std::size_t most = 40) const;

 private:
  std::array<std::uint64_t, kAccessKinds> counts_{};
  std::map<std::pair<AccessKind, std::string>, std::uint64_t> by_name_;
  std::vector<Access> list_;
  std::uint64_t added_ = 0;
  Instant begin_, end_;
};

// For GoogleTest: prints the summary.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
NPU_TESTING_API void PrintTo(const Accesses& accesses, std::ostream* out);

// Whether `name` can be an Access::name: a register of the ABI or a named area.
NPU_TESTING_API bool is_access_name(std::string_view name);

}  // namespace npu::testkit
