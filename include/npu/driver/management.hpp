// SPDX-License-Identifier: Apache-2.0
// Card management, for monitoring tools: identity, utilisation, traffic of memory and link, errors,
// events. The data come from registers of the card (abi/telemetry.hpp) and its configuration space,
// and in the program that drives the card also from its driver.
//
// All calls can fail with kDeviceLost and kIo (registers read as all ones), and with kUnsupported
// where this function or this access has no such data. Only one task at a time may use a
// Management.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "npu/abi/telemetry.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/compute_groups.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/quota.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

class Device;
class TimeSliceScheduler;

// Device memory in bytes.
struct MemoryUse {
  Bytes total = 0;  // can be allocated
  Bytes used = 0;   // allocated or in quarantine; with observe(): mapped

  // Rounded; 0 if `total` is 0.
  unsigned used_percent() const {
    constexpr Bytes kWhole = 100;
    return total == 0 ? 0 : static_cast<unsigned>((used * kWhole + total / 2) / total);
  }
};

// An open ProcessContext on the card.
struct CardProcess {
  ProcessId process;        // of the host; 0: unknown (ProcessOptions::process)
  std::uint32_t pasid = 0;  // 1 .. 2^20 - 1
  Bytes memory = 0;         // of blocks that its address space holds or maps
};

// Access to a card for Management. manage(), observe() and observe_virtual() create one.
class NPU_API ManagementAccess {
 public:
  virtual ~ManagementAccess() = default;
  virtual platform::Bdf bdf() const = 0;
  // BAR0, at least up to the end of abi::kEventLogWindow.
  virtual platform::MmioRegion& registers() = 0;
  // 4 bytes of configuration space; all ones: the card does not answer.
  virtual std::uint32_t read_config(std::uint32_t offset) = 0;
  // kUnsupported: unknown to this access.
  virtual Result<MemoryUse> memory_use() = 0;
  virtual Result<std::vector<CardProcess>> processes() = 0;

  // --- kUnsupported by default.
  // The quota of the client that asks.
  virtual Result<QuotaUse> quota();
  // The card's computing token, 0 .. kWholeToken (TimeSliceScheduler::set_card_token()).
  // kInvalidArgument: out of range.
  virtual Result<unsigned> token();
  virtual Status set_token(unsigned token);
  // The functions of compute_groups.hpp.
  virtual Result<ComputeGroup> create_group(const ComputeGroupOptions& options);
  virtual Status remove_group(std::uint32_t id);
  virtual Result<std::vector<ComputeGroup>> groups();
};

// Access to a card that this program drives. `quota`: of the client that asks; null: none.
// `time_slices`: the card's scheduler; null: none. `device` and `time_slices` outlive it.
NPU_API std::unique_ptr<ManagementAccess> manage(Device& device,
                                                 std::shared_ptr<const MemoryQuota> quota = nullptr,
                                                 TimeSliceScheduler* time_slices = nullptr);
// Access to a card that another program drives. Memory use comes from the page tables of its 18
// address spaces, with a read over BAR2 for each entry. Processes are unknown.
// kNotFound: no such function.
// kUnsupported: not an NPU, or its memory decoding is off.
// Also the errors of Platform::map_bar().
NPU_API Result<std::unique_ptr<ManagementAccess>> observe(platform::Platform& platform,
                                                          platform::Bdf bdf);
// The same for a virtual function of `card`, which this program drives. Memory use is unknown.
// Errors are those of Platform::map_bar().
NPU_API Result<std::unique_ptr<ManagementAccess>> observe_virtual(Device& card,
                                                                  platform::Bdf function);
// Bytes of the card's memory that its page tables map, each page once. `registers` is BAR0 and
// `memory` BAR2.
// kBadDevice: a table is beyond the memory.
NPU_API Result<Bytes> mapped_bytes(platform::MmioRegion& registers, platform::MmioRegion& memory);

enum class CoreKind : std::uint8_t {
  kAll,     // every AI Core
  kCube,    // cube cores, or the cube units of coupled ones
  kVector,  // vector cores, or the vector units of coupled ones
};

struct CardIdentity {
  std::string chip;  // such as "910b2"
  std::uint16_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem = 0;
  std::uint8_t revision = 0;
  std::uint32_t index = 0;    // DEVICE_INDEX
  unsigned clusters = 0;      // AICs or coupled cores
  unsigned vector_cores = 0;  // in all clusters; 0: coupled cores
  unsigned aicpus = 0;
  unsigned cores() const { return clusters + vector_cores; }
};

// In MHz.
struct ClockPair {
  unsigned rated = 0, present = 0;
};
struct CardClocks {
  ClockPair cores, aicpus;
  unsigned hbm = 0;  // command clock
};

// Bytes of TLPs since the reset of the function.
struct LinkDirectionBytes {
  std::uint64_t posted = 0, non_posted = 0, completion = 0;
  std::uint64_t all() const { return posted + non_posted + completion; }
};
struct LinkUse {
  LinkDirectionBytes received, sent;  // from the card's side
  std::uint64_t rate = 0;             // maximum, bytes per second in each direction
};
// An active HCCS link to another card.
struct HccsLinkUse {
  std::uint32_t card = 0;                // its DEVICE_INDEX
  std::uint64_t sent = 0, received = 0;  // messages since power-up
};
struct HbmTraffic {
  std::uint64_t read = 0, written = 0;  // bytes since the reset of the function
  std::uint64_t peak_rate = 0;          // bytes per second
};

struct ErrorCounts {
  std::uint32_t single = 0, multi = 0;  // bursts with one or with more wrong bits
};
struct MemoryErrors {
  ErrorCounts since_reset;
  ErrorCounts recorded;  // since clear_error_record(), also before resets
  ErrorCounts isolated;  // pages of 2 MiB that are not used because of recorded errors
};

// Alarms that were raised since the reset of the function and are still active.
struct Alarms {
  bool single = false, multi = false;  // memory errors that were not cleared
  bool temperature = false;            // the AI Cores' clock is lower
};

// Busy part of an interval in percent, 0 .. 100, rounded. An empty interval repeats the previous
// value.
using Percent = unsigned;

class NPU_API Management {
 public:
  explicit Management(ManagementAccess& card);
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  ManagementAccess& card() { return card_; }

  // kBadDevice: more cores than a card can have. Calls about cores also report this.
  Result<CardIdentity> identity();
  Result<CardClocks> clocks();
  // Time since the reset of the function.
  Result<Picoseconds> time();

  // --- Utilisation since the previous call with the same argument on this object; the first time,
  // since the reset of the function.
  Result<Percent> core_use(CoreKind kind);
  // The same for each core, in the order of a core mask. kCube of coupled cores: the whole cores.
  // kUnsupported: kVector of coupled cores.
  Result<std::vector<Percent>> core_uses(CoreKind kind);
  Result<std::vector<Percent>> aicpu_uses();
  // Percent of the HBM's peak rate.
  Result<Percent> hbm_bandwidth_use();

  Result<MemoryUse> memory_use() { return card_.memory_use(); }
  Result<std::vector<CardProcess>> processes() { return card_.processes(); }
  Result<HbmTraffic> hbm_traffic();
  Result<LinkUse> link_use();
  // Active links, by card.
  // kUnsupported: a virtual function.
  Result<std::vector<HccsLinkUse>> hccs_links();

  // --- Errors and events.
  Result<MemoryErrors> memory_errors();
  // Clears the record and the alarms, but not the counts since the reset.
  Status clear_error_record();
  Result<Alarms> alarms();
  // Flips 1 or 2 bits of the burst at a device-local address. The error counts when a read finds
  // it.
  // kInvalidArgument: another number of bits.
  Status inject_error(std::uint64_t address, unsigned bits);
  Result<abi::Severity> health();
  // Number of events logged so far, modulo 2^32.
  Result<std::uint32_t> event_count();
  // Events after number `seen` that are still in the log, oldest first.
  Result<std::vector<abi::LoggedEvent>> events_since(std::uint32_t seen);

 private:
  struct Sample {
    std::uint64_t time_ns = 0;
    std::vector<std::uint64_t> busy_ns;  // by unit
    std::vector<Percent> said;
  };
  enum class Meter : std::uint8_t {
    kCores,
    kCube,
    kVector,
    kEachCore,
    kEachCube,
    kEachVector,
    kAicpus,
    kHbm
  };
  Result<std::vector<Percent>> measure(Meter meter, std::vector<std::uint64_t> busy,
                                       std::uint64_t units_each);
  Result<std::vector<std::uint64_t>> busy_words(abi::WordWindow window, unsigned first,
                                                unsigned count);
  Result<std::vector<std::uint64_t>> core_busy(CoreKind kind, const CardIdentity& who);
  Status require(bool there, const char* what);
  Result<abi::TelemetryCapability> capability();

  ManagementAccess& card_;
  std::map<Meter, Sample> samples_;
};

}  // namespace npu::driver
