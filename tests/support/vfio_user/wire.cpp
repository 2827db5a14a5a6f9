// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vfio_user/wire.hpp"

namespace npu::test::vfio_user {

Blob version_payload(std::uint16_t major, std::uint16_t minor, std::string_view json) {
  Fields fields;
  fields.u16(major).u16(minor);
  if (!json.empty()) fields.text(json).u8(0);
  return fields;
}

Blob map_payload(std::uint64_t iova, std::uint64_t size, std::uint64_t offset,
                 std::uint32_t flags) {
  return Fields().u32(32).u32(flags).u64(offset).u64(iova).u64(size);
}

Blob unmap_payload(std::uint64_t iova, std::uint64_t size, std::uint32_t flags) {
  return Fields().u32(24).u32(flags).u64(iova).u64(size);
}

Blob access_payload(std::uint32_t region, std::uint64_t offset, std::uint32_t count,
                    const Blob& data) {
  return Fields().u64(offset).u32(region).u32(count).blob(data);
}

Blob irqs_payload(std::uint32_t flags, std::uint32_t index, std::uint32_t start,
                  std::uint32_t count, const Blob& bools) {
  const auto argsz = static_cast<std::uint32_t>(20 + bools.size());
  return Fields().u32(argsz).u32(flags).u32(index).u32(start).u32(count).blob(bools);
}

Blob write_multi_payload(const std::vector<SmallWrite>& writes) {
  Fields fields;
  fields.u64(writes.size());
  for (const auto& write : writes) {
    fields.u64(write.offset).u32(write.region).u32(write.count).u64(write.data);
  }
  return fields;
}

}  // namespace npu::test::vfio_user
