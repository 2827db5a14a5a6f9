// SPDX-License-Identifier: Apache-2.0
// Watching over a card, as management tools do: who it is, how busy its parts are, what its memory
// and link carry, which errors it has met. Everything comes from registers of the card
// (abi/telemetry.hpp), its configuration space and, where the caller drives the card, from the
// driver's own books.
//
// All calls may fail with kDeviceLost and kIo (registers read as all ones), and with kUnsupported
// where the function, or whoever looks, cannot know. One task at a time uses a Management.
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

// Device memory, bytes.
struct MemoryUse {
  Bytes total = 0;  // that can be allocated
  Bytes used = 0;   // what is not free: allocated; where only the card can be asked, mapped

  // Of the total, rounded; 0 of nothing.
  unsigned used_percent() const {
    constexpr Bytes kWhole = 100;
    return total == 0 ? 0 : static_cast<unsigned>((used * kWhole + total / 2) / total);
  }
};

// A process with compute queues on the card.
struct CardProcess {
  ProcessId process;        // of the host; 0: it has not said
  std::uint32_t pasid = 0;  // 1 .. 2^20 - 1
  Bytes memory = 0;         // blocks that its address space holds
};

// How a card is reached, and what is known of it besides.
class NPU_API ManagementAccess {
 public:
  virtual ~ManagementAccess() = default;
  virtual platform::Bdf bdf() const = 0;
  // BAR0, from its start to the end of abi::kEventLogWindow at least.
  virtual platform::MmioRegion& registers() = 0;
  // 4 bytes of configuration space; all ones: nobody answers.
  virtual std::uint32_t read_config(std::uint32_t offset) = 0;
  // kUnsupported: nobody here can know.
  virtual Result<MemoryUse> memory_use() = 0;
  virtual Result<std::vector<CardProcess>> processes() = 0;

  // --- Where nothing else is said: kUnsupported.
  // Of the client that looks.
  virtual Result<QuotaUse> quota();
  // The computing token, 0 .. kWholeToken (time_slices.hpp): how much of the cores' time there is
  // for who looks, and for all that share the card. kInvalidArgument.
  virtual Result<unsigned> token();
  virtual Status set_token(unsigned token);
  // As the functions of compute_groups.hpp.
  virtual Result<ComputeGroup> create_group(const ComputeGroupOptions& options);
  virtual Status remove_group(std::uint32_t id);
  virtual Result<std::vector<ComputeGroup>> groups();
};

// A card that this program drives. `device` outlives it and answers for the memory. `quota`: of
// the client that looks; null: it has none. `time_slices`: how its clients share the cores' time,
// which outlives it; null: they do not.
NPU_API std::unique_ptr<ManagementAccess> manage(Device& device,
                                                 std::shared_ptr<const MemoryQuota> quota = nullptr,
                                                 TimeSliceScheduler* time_slices = nullptr);
// A card beside whoever drives it: registers are read, memory is found by a walk through the page
// tables that the card has (18 address spaces, a read over BAR2 for each entry), processes are not
// known. kNotFound: no such function; kUnsupported: no NPU, or nobody has turned on its memory
// decoding.
NPU_API Result<std::unique_ptr<ManagementAccess>> observe(platform::Platform& platform,
                                                          platform::Bdf bdf);
// A virtual function of the card, whose driver this is, beside whoever has it: as observe(), but
// without its memory, of which nothing is known.
NPU_API Result<std::unique_ptr<ManagementAccess>> observe_virtual(Device& card,
                                                                  platform::Bdf function);
// Bytes of this card's memory that valid entries of its page tables map, each page once.
// `registers` is BAR0, `memory` BAR2. kBadDevice: a table lies beyond the memory.
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
  unsigned clusters = 0;      // AICs, or coupled cores
  unsigned vector_cores = 0;  // of all clusters; 0: coupled
  unsigned aicpus = 0;
  unsigned cores() const { return clusters + vector_cores; }
};

// MHz.
struct ClockPair {
  unsigned rated = 0, present = 0;
};
struct CardClocks {
  ClockPair cores, aicpus;
  unsigned hbm = 0;  // of the command bus
};

// Bytes of TLPs since the function's reset.
struct LinkDirectionBytes {
  std::uint64_t posted = 0, non_posted = 0, completion = 0;
  std::uint64_t all() const { return posted + non_posted + completion; }
};
struct LinkUse {
  LinkDirectionBytes received, sent;  // by the card
  std::uint64_t rate = 0;             // bytes per second and direction, at most
};
// A link to another card that is up.
struct HccsLinkUse {
  std::uint32_t card = 0;                // its DEVICE_INDEX
  std::uint64_t sent = 0, received = 0;  // messages, since the machine's beginning
};
struct HbmTraffic {
  std::uint64_t read = 0, written = 0;  // bytes since the function's reset
  std::uint64_t peak_rate = 0;          // bytes per second
};

struct ErrorCounts {
  std::uint32_t single = 0, multi = 0;  // bits of a burst
};
struct MemoryErrors {
  ErrorCounts since_reset;
  ErrorCounts recorded;  // since clear_error_record(), over resets
  ErrorCounts isolated;  // pages of 2 MiB that the record takes out of use
};

// Of errors of the memory, that have come since the function's reset and are not cleared.
struct MemoryAlarms {
  bool single = false, multi = false;
};

// Busy time in an interval, percent, 0 .. 100, rounded. Of an interval without time: what was said
// before.
using Percent = unsigned;

class NPU_API Management {
 public:
  explicit Management(ManagementAccess& card);
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  ManagementAccess& card() { return card_; }

  // kBadDevice, as of whatever asks for cores: more of them than there can be.
  Result<CardIdentity> identity();
  Result<CardClocks> clocks();
  // Since the function's reset.
  Result<Picoseconds> time();

  // --- In the interval since the same was last asked of this object; at first, since the reset.
  Result<Percent> core_use(CoreKind kind);
  // By core, in the order of a core mask: with kAll all, else those of the kind. kUnsupported:
  // units of coupled cores, which are not counted one by one.
  Result<std::vector<Percent>> core_uses(CoreKind kind);
  Result<std::vector<Percent>> aicpu_uses();
  // Of the HBM's peak rate.
  Result<Percent> hbm_bandwidth_use();

  Result<MemoryUse> memory_use() { return card_.memory_use(); }
  Result<std::vector<CardProcess>> processes() { return card_.processes(); }
  Result<HbmTraffic> hbm_traffic();
  Result<LinkUse> link_use();
  // By card; kUnsupported: of a virtual function.
  Result<std::vector<HccsLinkUse>> hccs_links();

  // --- Errors and events.
  Result<MemoryErrors> memory_errors();
  // Forgets what is recorded and ends the alarms; counts since the reset stay.
  Status clear_error_record();
  Result<MemoryAlarms> memory_alarms();
  // Flips 1 or 2 bits of the burst at a device-local address; a read must meet them to count.
  // kInvalidArgument: another number of bits.
  Status inject_error(std::uint64_t address, unsigned bits);
  Result<abi::Severity> health();
  // Events ever logged, modulo 2^32.
  Result<std::uint32_t> event_count();
  // Those behind number `seen` that the log still has, oldest first.
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
