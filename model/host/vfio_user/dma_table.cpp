// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/dma_table.hpp"

#include <algorithm>
#include <cerrno>

#include "npu/base/checked.hpp"

namespace npu::model::vfio_user {

bool DmaTable::overlaps(std::uint64_t first, std::uint64_t last) const {
  const auto after = entries_.upper_bound(last);  // the first that begins behind the range
  if (after == entries_.begin()) return false;
  const auto& [iova, entry] = *std::prev(after);
  return iova + (entry.size - 1) >= first;
}

int DmaTable::open_file(int fd, const DmaMapRequest& request, std::shared_ptr<MappedFile>& file) {
  MappedFile::Identity identity{};
  if (const int error = MappedFile::identify(fd, identity); error != 0) return error;
  const auto end = checked_add(request.offset, request.size);
  if (!is_aligned(request.offset, kPageSize) || !end || *end > identity.size) return EINVAL;
  if ((request.flags & kDmaWritable) != 0 && !identity.writable) return EACCES;
  files_.erase(std::remove_if(files_.begin(), files_.end(),
                              [](const auto& entry) { return entry.expired(); }),
               files_.end());
  for (const auto& candidate : files_) {
    auto known = candidate.lock();
    if (known->covers(identity, *end)) {
      file = std::move(known);
      return 0;
    }
  }
  if (files_.size() >= kMaxFiles) return ENOMEM;
  if (const int error = MappedFile::map(fd, identity, file); error != 0) return error;
  files_.push_back(file);
  return 0;
}

int DmaTable::map(const DmaMapRequest& request, const std::vector<FileDescriptor>& fds) {
  constexpr std::uint32_t kRights = kDmaReadable | kDmaWritable;
  if (request.argsz < sizeof request || fds.size() > 1) return EINVAL;
  if ((request.flags & kRights) == 0 || (request.flags & ~kRights) != 0) return EINVAL;
  if (request.size == 0 || !is_aligned(request.address | request.size, kPageSize)) return EINVAL;
  const auto last = checked_add(request.address, request.size - 1);
  if (!last) return EINVAL;
  if (overlaps(request.address, *last)) return EEXIST;
  if (entries_.size() >= max_mappings_) return ENOSPC;
  std::shared_ptr<MappedFile> file;
  if (!fds.empty()) {
    if (const int error = open_file(fds.front().get(), request, file); error != 0) return error;
    const DmaMapping mapping{request.address, request.size, file->at(request.offset),
                             (request.flags & kDmaReadable) != 0,
                             (request.flags & kDmaWritable) != 0};
    if (const int error = device_.map(mapping); error != 0) return error;
  }
  entries_.emplace(request.address, Entry{request.size, std::move(file)});
  return 0;
}

DmaTable::Entries::iterator DmaTable::remove(Entries::iterator entry) {
  if (entry->second.file != nullptr) device_.unmap(entry->first, entry->second.size);
  return entries_.erase(entry);
}

int DmaTable::unmap(const DmaUnmapRequest& request) {
  if (request.argsz < sizeof request || (request.flags & ~kUnmapAll) != 0) return EINVAL;
  if ((request.flags & kUnmapAll) != 0) {
    if (request.address != 0 || request.size != 0) return EINVAL;
    clear();
    return 0;
  }
  if (request.size == 0) return EINVAL;
  const auto last = checked_add(request.address, request.size - 1);
  if (!last) return EINVAL;
  const auto begin = entries_.lower_bound(request.address);
  const auto end = entries_.upper_bound(*last);
  if (begin != entries_.begin()) {
    const auto& [iova, entry] = *std::prev(begin);
    if (iova + (entry.size - 1) >= request.address) return EINVAL;
  }
  if (begin != end) {
    const auto& [iova, entry] = *std::prev(end);
    if (iova + (entry.size - 1) > *last) return EINVAL;
  }
  for (auto at = begin; at != end;) at = remove(at);
  return 0;
}

void DmaTable::clear() {
  for (auto at = entries_.begin(); at != entries_.end();) at = remove(at);
}

bool DmaTable::lost() const {
  return std::any_of(files_.begin(), files_.end(), [](const auto& entry) {
    const auto file = entry.lock();
    return file != nullptr && file->lost();
  });
}

}  // namespace npu::model::vfio_user
