// SPDX-License-Identifier: Apache-2.0
// What a client has mapped for DMA: DMA_MAP and DMA_UNMAP.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "model/host/vfio_user/mapped_file.hpp"
#include "model/host/vfio_user/protocol.hpp"
#include "model/host/vfio_user/served_device.hpp"
#include "model/host/vfio_user/unique_fd.hpp"

namespace npu::model::vfio_user {

class DmaTable {
 public:
  static constexpr std::size_t kMaxFiles = 128;  // mapped at a time by one client

  explicit DmaTable(ServedDevice& device) : device_(device) {}
  ~DmaTable() { clear(); }
  DmaTable(const DmaTable&) = delete;
  DmaTable& operator=(const DmaTable&) = delete;

  void limit(std::uint32_t mappings) { max_mappings_ = mappings; }

  // 0 or errno: EINVAL (range, flags, file, its length), EEXIST (overlaps a mapping), EACCES (file
  // not open for that), ENOSPC (too many mappings), ENOMEM. Without a file the range is remembered
  // but cannot be reached. Closes the descriptors it does not need; keeps none.
  int map(const DmaMapRequest& request, const std::vector<UniqueFd>& fds);
  // 0 or EINVAL (range, flags, a mapping that the range cuts through). Takes every mapping inside
  // the range, even none, like VFIO type 1, version 2: QEMU's IOMMU unmaps its address space in
  // large ranges when the guest changes its tables.
  int unmap(const DmaUnmapRequest& request);
  void clear();

  // The client has truncated a file that it had mapped.
  bool lost() const;

 private:
  struct Entry {
    Bytes size;
    std::shared_ptr<MappedFile> file;  // null: not reachable
  };
  using Entries = std::map<std::uint64_t, Entry>;

  int open_file(int fd, const DmaMapRequest& request, std::shared_ptr<MappedFile>& file);
  bool overlaps(std::uint64_t first, std::uint64_t last) const;
  Entries::iterator remove(Entries::iterator entry);

  ServedDevice& device_;
  std::uint32_t max_mappings_ = kMaxDmaMaps;
  Entries entries_;
  std::vector<std::weak_ptr<MappedFile>> files_;
};

}  // namespace npu::model::vfio_user
