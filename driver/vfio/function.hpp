// SPDX-License-Identifier: Apache-2.0
// One PCI function opened through VFIO: configuration space, BARs, MSI-X, reset.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "driver/vfio/container.hpp"
#include "driver/vfio/file.hpp"
#include "driver/vfio/function_interrupts.hpp"
#include "driver/vfio/kernel.hpp"
#include "npu/platform/memory.hpp"
#include "npu/platform/time.hpp"

namespace npu::driver::vfio {

// What nobody answers reads as; `width` is 1, 2 or 4 bytes.
constexpr std::uint32_t all_ones(unsigned width) {
  return 0xFFFFFFFF >> (32 - 8 * width);
}

// Shared by the regions and vectors opened from it, which may outlive the platform's own reference.
// Members may be called from several threads at once.
class Function : public std::enable_shared_from_this<Function> {
 public:
  // kUnsupported: `file` is no PCI function.
  static Result<std::shared_ptr<Function>> create(Kernel& kernel,
                                                  std::shared_ptr<Container> container,
                                                  FileDescriptor file, std::string name);

  std::uint32_t read_config(std::uint32_t offset, unsigned width) const;
  void write_config(std::uint32_t offset, unsigned width, std::uint32_t value) const;
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(unsigned bar, Bytes offset, Bytes size);
  // kOutOfRange, kAlreadyExists; kOutOfResources: the machine has no vector left for it.
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Clock& clock,
                                                                 unsigned vector);
  // Leaves COMMAND zero, as a function level reset does. kUnsupported: the function cannot be reset
  // by itself; kTimeout: it does not answer afterwards.
  Status reset(platform::Clock& clock) const;
  // Called by a vector's destructor.
  void close_vector(unsigned vector) { interrupts_.close(vector); }

  // An eventfd that the kernel signals when it wants the function back (VFIO_PCI_REQ_IRQ_INDEX), or
  // when it has seen an uncorrectable error of it (VFIO_PCI_ERR_IRQ_INDEX). Closed: it does not
  // say so.
  FileDescriptor subscribe(unsigned irq_index) const { return interrupts_.subscribe(irq_index); }
  // From now on it is as if the function were gone: all ones, no writes. `reason` lives for ever.
  void lose(const char* reason) const;
  bool is_lost() const { return lost_.load(std::memory_order_relaxed) != nullptr; }
  const char* reason_lost() const { return lost_.load(std::memory_order_relaxed); }

  int file() const { return file_.get(); }
  const std::string& name() const { return name_; }
  const std::shared_ptr<Container>& shared_container() const { return container_; }

 private:
  Function(Kernel& kernel, std::shared_ptr<Container> container, FileDescriptor file,
           std::string name)
      : kernel_(kernel),
        container_(std::move(container)),
        file_(std::move(file)),
        name_(std::move(name)),
        interrupts_(kernel, file_.get(), name_) {}

  Kernel& kernel_;
  std::shared_ptr<Container> container_;  // before file_: outlives it
  FileDescriptor file_;
  std::string name_;
  FunctionInterrupts interrupts_;
  std::uint64_t config_offset_ = 0;  // of configuration space in the descriptor
  std::uint64_t config_size_ = 0;
  bool can_reset_ = false;
  mutable std::atomic<const char*> lost_{nullptr};
};

}  // namespace npu::driver::vfio
