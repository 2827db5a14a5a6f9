// SPDX-License-Identifier: Apache-2.0
// The vfio-user protocol as a test client speaks it: numbers and layouts typed by hand from the
// specification (QEMU docs/interop/vfio-user.rst), so that server and client share no mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace npu::test::vfio_user {

using Blob = std::vector<std::byte>;

enum CommandCode : std::uint16_t {
  kVersion = 1,
  kDmaMap = 2,
  kDmaUnmap = 3,
  kGetInfo = 4,
  kGetRegionInfo = 5,
  kGetRegionIoFds = 6,
  kGetIrqInfo = 7,
  kSetIrqs = 8,
  kRegionRead = 9,
  kRegionWrite = 10,
  kDmaRead = 11,
  kDmaWrite = 12,
  kReset = 13,
  kDirtyPages = 14,
  kWriteMulti = 15,
  kFeature = 16,
  kMigRead = 17,
  kMigWrite = 18,
};

// Header flags.
constexpr std::uint32_t kIsReply = 0x1;
constexpr std::uint32_t kWantsNoReply = 0x10;
constexpr std::uint32_t kIsError = 0x20;

constexpr std::size_t kHeaderBytes = 16;

// SET_IRQS flags.
constexpr std::uint32_t kNone = 0x01, kBool = 0x02, kEventfd = 0x04;
constexpr std::uint32_t kMask = 0x08, kUnmask = 0x10, kTrigger = 0x20;

// DMA_MAP and DMA_UNMAP flags.
constexpr std::uint32_t kRead = 1, kWrite = 2;
constexpr std::uint32_t kAll = 2;

// Fields one behind the other, without padding.
class Fields {
 public:
  template <class T>
  Fields& add(T value) {
    static_assert(std::is_integral_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Fields& u8(std::uint8_t value) { return add(value); }
  Fields& u16(std::uint16_t value) { return add(value); }
  Fields& u32(std::uint32_t value) { return add(value); }
  Fields& u64(std::uint64_t value) { return add(value); }
  Fields& text(std::string_view value) {
    for (const char c : value) add(c);
    return *this;
  }
  Fields& blob(const Blob& value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  operator const Blob&() const { return bytes_; }
  const Blob& bytes() const { return bytes_; }

 private:
  Blob bytes_;
};

inline Fields header(std::uint16_t id, std::uint16_t command, std::size_t size,
                     std::uint32_t flags = 0, std::uint32_t error = 0) {
  return Fields().u16(id).u16(command).u32(static_cast<std::uint32_t>(size)).u32(flags).u32(error);
}

struct Reply {
  std::uint16_t id = 0;
  std::uint16_t command = 0;
  std::uint32_t flags = 0;
  std::uint32_t error = 0;
  Blob payload;

  // A field of the payload; 0 behind its end.
  template <class T>
  T at(std::size_t offset) const {
    T value{};
    if (offset + sizeof value <= payload.size()) {
      std::memcpy(&value, payload.data() + offset, sizeof value);
    }
    return value;
  }
  std::uint32_t u32(std::size_t offset) const { return at<std::uint32_t>(offset); }
  std::uint64_t u64(std::size_t offset) const { return at<std::uint64_t>(offset); }
  bool ok() const { return (flags & 0xf) == kIsReply && (flags & kIsError) == 0; }
};

// Payloads of well-formed requests.
Blob version_payload(std::uint16_t major, std::uint16_t minor, std::string_view json);
Blob map_payload(std::uint64_t iova, std::uint64_t size, std::uint64_t offset,
                 std::uint32_t flags = kRead | kWrite);
Blob unmap_payload(std::uint64_t iova, std::uint64_t size, std::uint32_t flags = 0);
Blob access_payload(std::uint32_t region, std::uint64_t offset, std::uint32_t count,
                    const Blob& data = {});
Blob irqs_payload(std::uint32_t flags, std::uint32_t index, std::uint32_t start,
                  std::uint32_t count, const Blob& bools = {});
struct SmallWrite {
  std::uint64_t offset;
  std::uint32_t region;
  std::uint32_t count;
  std::uint64_t data;
};
Blob write_multi_payload(const std::vector<SmallWrite>& writes);

}  // namespace npu::test::vfio_user
