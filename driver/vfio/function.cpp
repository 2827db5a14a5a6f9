// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/function.hpp"

#include <fmt/format.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "driver/vfio/interrupt.hpp"
#include "driver/vfio/region.hpp"
#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver::vfio {

namespace pci = abi::pci;

namespace {

// PCIe 6.6.2 gives a function 100 ms; the kernel may wait for others that reset it, too.
constexpr Picoseconds kResetTimeout = 1_s;
constexpr Picoseconds kResetPoll = 1_ms;

}  // namespace

Result<std::shared_ptr<Function>> Function::create(Kernel& kernel,
                                                   std::shared_ptr<Container> container,
                                                   FileDescriptor file, std::string name) {
  std::shared_ptr<Function> function(
      new Function(kernel, std::move(container), std::move(file), std::move(name)));
  vfio_device_info info{};
  info.argsz = sizeof info;
  if (kernel.ioctl(function->file(), VFIO_DEVICE_GET_INFO, &info) != 0) {
    return system_error(function->name_ + ": VFIO device info");
  }
  if (!(info.flags & VFIO_DEVICE_FLAGS_PCI)) {
    return fail(ErrorCode::kUnsupported, function->name_ + " is no PCI function");
  }
  function->can_reset_ = (info.flags & VFIO_DEVICE_FLAGS_RESET) != 0;
  const auto config = read_region(kernel, function->file(), VFIO_PCI_CONFIG_REGION_INDEX);
  if (!config) return forward_error(config);
  function->config_offset_ = config->file_offset;
  function->config_size_ = config->size;
  function->interrupts_.read();
  return function;
}

std::uint32_t Function::read_config(std::uint32_t offset, unsigned width) const {
  std::uint32_t value = 0;
  const auto at = static_cast<off_t>(config_offset_ + offset);
  if (is_lost() || !range_fits(offset, width, config_size_) ||
      ::pread(file(), &value, width, at) != static_cast<ssize_t>(width)) {
    return all_ones(width);
  }
  return value;
}

void Function::write_config(std::uint32_t offset, unsigned width, std::uint32_t value) const {
  if (is_lost() || !range_fits(offset, width, config_size_)) return;
  // A write that the kernel refuses is dropped, as the bus would drop it.
  const auto at = static_cast<off_t>(config_offset_ + offset);
  const auto written = ::pwrite(file(), &value, width, at);
  static_cast<void>(written);
}

// VFIO maps BARs uncached, which is a legal implementation of write combining.
Result<std::unique_ptr<platform::MmioRegion>> Function::map_bar(unsigned bar, Bytes offset,
                                                                Bytes size) {
  const auto region = read_region(kernel_, file(), VFIO_PCI_BAR0_REGION_INDEX + bar);
  if (!region) return forward_error(region);
  if (region->size == 0) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no BAR{}", name_, bar));
  }
  if (size == 0 || !is_aligned(offset | size, 4096)) {
    return fail(ErrorCode::kMisaligned, fmt::format("{}: BAR{} is mapped in units of 4 KiB, not "
                                                    "{:#x} bytes at {:#x}",
                                                    name_, bar, size, offset));
  }
  if (!range_fits(offset, size, region->size)) {
    return fail(ErrorCode::kOutOfRange, fmt::format("{}: {:#x} bytes at {:#x} do not fit BAR{} of "
                                                    "{:#x} bytes",
                                                    name_, size, offset, bar, region->size));
  }
  return open_region(kernel_, shared_from_this(), *region, offset, size);
}

// The kernel saves and restores what it finds in configuration space; a function level reset leaves
// COMMAND zero, and so does this.
Status Function::reset(platform::Clock& clock) const {
  if (!can_reset_) {
    return fail(ErrorCode::kUnsupported, name_ +
                                             " has no reset of its own (no FLR, and it shares "
                                             "its bus with other functions)");
  }
  const auto deadline = clock.now() + kResetTimeout;
  while (kernel_.ioctl(file(), VFIO_DEVICE_RESET, nullptr) != 0) {
    // EAGAIN: somebody else has the function's lock at the moment.
    if (errno != EAGAIN || clock.now() >= deadline) return system_error("reset " + name_);
    clock.sleep_until(clock.now() + kResetPoll);
  }
  while (read_config(pci::kVendorId, 2) == all_ones(2)) {
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, name_ + " does not answer after a reset");
    }
    clock.sleep_until(clock.now() + kResetPoll);
  }
  write_config(pci::kCommand, 2, 0);
  return {};
}

// In this order: what the function still completes, with or without errors, is nobody's any more.
// What it still has to do must not reach anybody's memory.
void Function::lose(const char* reason) const {
  const char* none = nullptr;
  if (!lost_.compare_exchange_strong(none, reason)) return;
  std::uint16_t command = 0;
  const auto at = static_cast<off_t>(config_offset_ + pci::kCommand);
  if (::pread(file(), &command, sizeof command, at) != static_cast<ssize_t>(sizeof command)) return;
  command = static_cast<std::uint16_t>(command & ~pci::kCommandBusMaster);
  const auto written = ::pwrite(file(), &command, sizeof command, at);
  static_cast<void>(written);
}

Result<std::unique_ptr<platform::InterruptVector>> Function::open_vector(platform::Clock& clock,
                                                                         unsigned vector) {
  auto event = interrupts_.open(vector);
  if (!event) return forward_error(event);
  return std::make_unique<EventfdVector>(clock, std::move(*event), shared_from_this(), vector);
}

}  // namespace npu::driver::vfio
