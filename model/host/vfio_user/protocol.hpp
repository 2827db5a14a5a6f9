// SPDX-License-Identifier: Apache-2.0
// Layouts and constants of the vfio-user protocol, version 0.1 ("vfio-user Protocol Specification",
// QEMU docs/interop/vfio-user.rst), with the names of the specification. All numbers are in the
// byte order of the host. Payload offsets count from the end of the 16-byte header; sizes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace npu::model::vfio_user {

constexpr std::uint16_t kMajorVersion = 0;
constexpr std::uint16_t kMinorVersion = 1;  // the highest; lower ones are answered with their own

// What this server takes, and says so in its VERSION reply.
constexpr std::uint32_t kMaxMessageFds = 16;         // QEMU refuses to hear of more
constexpr std::uint32_t kMaxDataTransfer = 1 << 20;  // also the default of the specification
constexpr std::uint32_t kMaxDmaMaps = 65535;
constexpr std::uint64_t kPageSize = 4096;

enum class Command : std::uint16_t {
  kVersion = 1,
  kDmaMap = 2,
  kDmaUnmap = 3,
  kDeviceGetInfo = 4,
  kDeviceGetRegionInfo = 5,
  kDeviceGetRegionIoFds = 6,
  kDeviceGetIrqInfo = 7,
  kDeviceSetIrqs = 8,
  kRegionRead = 9,
  kRegionWrite = 10,
  kDmaRead = 11,   // server to client only
  kDmaWrite = 12,  // server to client only
  kDeviceReset = 13,
  kRegionWriteMulti = 15,
  kDeviceFeature = 16,
  kMigDataRead = 17,
  kMigDataWrite = 18,
};

// Header: flags.
constexpr std::uint32_t kTypeMask = 0xf;
constexpr std::uint32_t kTypeCommand = 0;
constexpr std::uint32_t kTypeReply = 1;
constexpr std::uint32_t kNoReply = 1U << 4;
constexpr std::uint32_t kErrorReply = 1U << 5;

struct Header {
  std::uint16_t id;
  std::uint16_t command;
  std::uint32_t size;  // of the whole message, with the header
  std::uint32_t flags;
  std::uint32_t error;  // errno; replies with kErrorReply only
};

struct VersionHead {  // JSON text with its NUL follows, or nothing
  std::uint16_t major;
  std::uint16_t minor;
};

constexpr std::uint32_t kDmaReadable = 1U << 0;
constexpr std::uint32_t kDmaWritable = 1U << 1;
struct DmaMapRequest {
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint64_t offset;  // in the file that came along
  std::uint64_t address;
  std::uint64_t size;
};

constexpr std::uint32_t kUnmapAll = 1U << 1;  // VFIO_DMA_UNMAP_FLAG_ALL
struct DmaUnmapRequest {
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint64_t address;
  std::uint64_t size;
};

constexpr std::uint32_t kDeviceReset = 1U << 0;
constexpr std::uint32_t kDevicePci = 1U << 1;
struct DeviceInfo {
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint32_t num_regions;
  std::uint32_t num_irqs;
};

constexpr std::uint32_t kRegionCount = 9;  // BAR0 to BAR5, ROM, configuration space, VGA
constexpr std::uint32_t kRomRegion = 6;
constexpr std::uint32_t kRegionReadable = 1U << 0;
constexpr std::uint32_t kRegionWritable = 1U << 1;
struct RegionInfo {
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint32_t index;
  std::uint32_t cap_offset;
  std::uint64_t size;
  std::uint64_t offset;
};

struct RegionIoFds {  // sub-regions follow in replies that have some
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint32_t index;
  std::uint32_t count;
};

constexpr std::uint32_t kIrqTypeCount = 5;  // INTx, MSI, MSI-X, error, request
constexpr std::uint32_t kIntxIndex = 0;
constexpr std::uint32_t kMsixIndex = 2;
constexpr std::uint32_t kIrqEventfd = 1U << 0;
constexpr std::uint32_t kIrqMaskable = 1U << 1;
constexpr std::uint32_t kIrqAutomasked = 1U << 2;
struct IrqInfo {
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint32_t index;
  std::uint32_t count;
};

constexpr std::uint32_t kDataNone = 1U << 0;
constexpr std::uint32_t kDataBool = 1U << 1;
constexpr std::uint32_t kDataEventfd = 1U << 2;
constexpr std::uint32_t kActionMask = 1U << 3;
constexpr std::uint32_t kActionUnmask = 1U << 4;
constexpr std::uint32_t kActionTrigger = 1U << 5;
struct IrqSet {  // one byte per vector follows with kDataBool
  std::uint32_t argsz;
  std::uint32_t flags;
  std::uint32_t index;
  std::uint32_t start;
  std::uint32_t count;
};

struct RegionAccess {  // `count` bytes follow in a write and in the reply to a read
  std::uint64_t offset;
  std::uint32_t region;
  std::uint32_t count;
};

struct WriteMultiHead {  // wr_cnt times SingleWrite follow in the request
  std::uint64_t wr_cnt;
};

struct SingleWrite {
  std::uint64_t offset;
  std::uint32_t region;
  std::uint32_t count;  // 1 to 8
  std::byte data[8];
};

static_assert(sizeof(Header) == 16 && sizeof(VersionHead) == 4);
static_assert(sizeof(DmaMapRequest) == 32 && sizeof(DmaUnmapRequest) == 24);
static_assert(sizeof(DeviceInfo) == 16 && sizeof(RegionInfo) == 32 && sizeof(RegionIoFds) == 16);
static_assert(sizeof(IrqInfo) == 16 && sizeof(IrqSet) == 20);
static_assert(sizeof(RegionAccess) == 16 && sizeof(WriteMultiHead) == 8);
static_assert(sizeof(SingleWrite) == 24);

// The longest message that means anything: a REGION_WRITE of kMaxDataTransfer bytes.
constexpr std::uint32_t kMaxMessageSize = sizeof(Header) + sizeof(RegionAccess) + kMaxDataTransfer;

// The first bytes of a payload as a T; the caller has checked that there are enough.
template <class T>
T load(const std::vector<std::byte>& payload, std::size_t at = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, payload.data() + at, sizeof value);
  return value;
}

}  // namespace npu::model::vfio_user
