// SPDX-License-Identifier: Apache-2.0
// A BAR through VFIO: mapped where the kernel lets it be mapped, read and written through the
// descriptor elsewhere (the page of the MSI-X table on older kernels, BARs without mmap).
#pragma once

#include <memory>
#include <vector>

#include "driver/vfio/kernel.hpp"
#include "npu/base/result.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver::vfio {

class Function;

struct RegionArea {
  Bytes offset = 0;  // in the region
  Bytes size = 0;
};

struct Region {
  std::uint64_t file_offset = 0;     // of its first byte in the descriptor
  Bytes size = 0;                    // 0: there is no such region
  std::vector<RegionArea> mappable;  // sorted, apart, page-aligned
};

// kNotFound, kIo.
Result<Region> read_region(Kernel& kernel, int device, unsigned index);

// [offset, offset + size) of `region`. What cannot be mapped after all goes through the descriptor.
std::unique_ptr<platform::MmioRegion> open_region(Kernel& kernel, std::shared_ptr<Function> owner,
                                                  const Region& region, Bytes offset, Bytes size);

}  // namespace npu::driver::vfio
