// SPDX-License-Identifier: Apache-2.0
// One PCI function opened through VFIO: configuration space, BARs, MSI-X.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "driver/vfio/file.hpp"
#include "npu/platform/memory.hpp"
#include "npu/platform/time.hpp"

namespace npu::driver::vfio {

// Shared by the vectors opened from it, which may outlive the platform's own reference.
class Function : public std::enable_shared_from_this<Function> {
 public:
  // kUnsupported: `file` is no PCI function.
  static Result<std::shared_ptr<Function>> create(File file, std::string name);

  std::uint32_t read_config(std::uint32_t offset, unsigned width) const;
  void write_config(std::uint32_t offset, unsigned width, std::uint32_t value) const;
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(unsigned bar, Bytes offset, Bytes size);
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Clock& clock,
                                                                 unsigned vector);
  Status reset() const;
  // Called by a vector's destructor.
  void close_vector(unsigned vector);

 private:
  Function(File file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Status set_vector(unsigned vector, int eventfd) const;
  Status enable_msix();

  File file_;
  std::string name_;
  std::uint64_t config_offset_ = 0;  // of configuration space in the descriptor
  std::uint64_t config_size_ = 0;
  unsigned vectors_ = 0;
  bool msix_enabled_ = false;
  std::set<unsigned> open_vectors_;
};

}  // namespace npu::driver::vfio
