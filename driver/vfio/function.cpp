// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/function.hpp"

#include <fmt/format.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <vector>

#include "driver/vfio/interrupt.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver::vfio {
namespace {

class MappedBar : public platform::MmioRegion {
 public:
  MappedBar(void* base, Bytes size) : base_(static_cast<std::byte*>(base)), size_(size) {}
  ~MappedBar() override { ::munmap(base_, size_); }
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override { return *at<std::uint32_t>(offset); }
  std::uint64_t read64(Bytes offset) override { return *at<std::uint64_t>(offset); }
  void write32(Bytes offset, std::uint32_t value) override { *at<std::uint32_t>(offset) = value; }
  void write64(Bytes offset, std::uint64_t value) override { *at<std::uint64_t>(offset) = value; }

 private:
  template <class T>
  volatile T* at(Bytes offset) const {
    assert(is_aligned(offset, sizeof(T)) && range_fits(offset, sizeof(T), size_));
    return reinterpret_cast<volatile T*>(base_ + offset);
  }

  std::byte* base_;
  Bytes size_;
};

Result<vfio_region_info> region_info(int device, unsigned index) {
  vfio_region_info info{};
  info.argsz = sizeof info;
  info.index = index;
  if (::ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &info) != 0) {
    return system_error(fmt::format("VFIO region {}", index));
  }
  return info;
}

}  // namespace

Result<std::shared_ptr<Function>> Function::create(File file, std::string name) {
  std::shared_ptr<Function> function(new Function(std::move(file), std::move(name)));
  vfio_device_info info{};
  info.argsz = sizeof info;
  if (::ioctl(function->file_.get(), VFIO_DEVICE_GET_INFO, &info) != 0) {
    return system_error(function->name_ + ": VFIO device info");
  }
  if (!(info.flags & VFIO_DEVICE_FLAGS_PCI)) {
    return fail(ErrorCode::kUnsupported, function->name_ + " is no PCI function");
  }
  const auto config = region_info(function->file_.get(), VFIO_PCI_CONFIG_REGION_INDEX);
  if (!config) return forward_error(config);
  function->config_offset_ = config->offset;
  function->config_size_ = config->size;
  vfio_irq_info irq{};
  irq.argsz = sizeof irq;
  irq.index = VFIO_PCI_MSIX_IRQ_INDEX;
  if (::ioctl(function->file_.get(), VFIO_DEVICE_GET_IRQ_INFO, &irq) == 0) {
    function->vectors_ = irq.count;
  }
  return function;
}

std::uint32_t Function::read_config(std::uint32_t offset, unsigned width) const {
  std::uint32_t value = 0;
  const auto at = static_cast<off_t>(config_offset_ + offset);
  if (!range_fits(offset, width, config_size_) ||
      ::pread(file_.get(), &value, width, at) != static_cast<ssize_t>(width)) {
    return 0xFFFFFFFF >> (32 - 8 * width);
  }
  return value;
}

void Function::write_config(std::uint32_t offset, unsigned width, std::uint32_t value) const {
  if (!range_fits(offset, width, config_size_)) return;
  // A write that the kernel refuses is dropped, as the bus would drop it.
  const auto at = static_cast<off_t>(config_offset_ + offset);
  const auto written = ::pwrite(file_.get(), &value, width, at);
  static_cast<void>(written);
}

// VFIO maps BARs uncached, which is a legal implementation of write combining.
Result<std::unique_ptr<platform::MmioRegion>> Function::map_bar(unsigned bar, Bytes offset,
                                                                Bytes size) {
  const auto info = region_info(file_.get(), VFIO_PCI_BAR0_REGION_INDEX + bar);
  if (!info) return forward_error(info);
  if (info->size == 0)
    return fail(ErrorCode::kNotFound, fmt::format("{} has no BAR{}", name_, bar));
  if (size == 0 || !is_aligned(offset | size, 4096)) {
    return fail(ErrorCode::kMisaligned, fmt::format("{}: BAR{} is mapped in units of 4 KiB, not "
                                                    "{:#x} bytes at {:#x}",
                                                    name_, bar, size, offset));
  }
  if (!range_fits(offset, size, info->size)) {
    return fail(ErrorCode::kOutOfRange, fmt::format("{}: {:#x} bytes at {:#x} do not fit BAR{} of "
                                                    "{:#x} bytes",
                                                    name_, size, offset, bar, info->size));
  }
  if (!(info->flags & VFIO_REGION_INFO_FLAG_MMAP)) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: BAR{} cannot be mapped", name_, bar));
  }
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(),
                      static_cast<off_t>(info->offset + offset));
  if (base == MAP_FAILED) return system_error(fmt::format("map BAR{} of {}", bar, name_));
  return std::make_unique<MappedBar>(base, size);
}

Result<std::unique_ptr<platform::InterruptVector>> Function::open_vector(platform::Clock& clock,
                                                                         unsigned vector) {
  if (vector >= vectors_) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("vector {} of {}: it has {}", vector, name_, vectors_));
  }
  if (open_vectors_.count(vector)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("vector {} of {} is open", vector, name_));
  }
  File event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) return system_error("eventfd");
  if (auto ok = enable_msix(); !ok) return forward_error(ok);
  if (auto ok = set_vector(vector, event.get()); !ok) return forward_error(ok);
  open_vectors_.insert(vector);
  return std::make_unique<EventfdVector>(clock, std::move(event), shared_from_this(), vector);
}

// All vectors at once, without handlers: older kernels cannot add vectors to an enabled MSI-X.
Status Function::enable_msix() {
  if (msix_enabled_) return {};
  std::vector<char> buffer(sizeof(vfio_irq_set) + vectors_ * sizeof(int));
  vfio_irq_set header{};
  header.argsz = static_cast<__u32>(buffer.size());
  header.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  header.index = VFIO_PCI_MSIX_IRQ_INDEX;
  header.count = vectors_;
  std::memset(buffer.data(), 0xFF, buffer.size());  // descriptors of -1
  std::memcpy(buffer.data(), &header, sizeof header);
  if (::ioctl(file_.get(), VFIO_DEVICE_SET_IRQS, buffer.data()) != 0) {
    return system_error("enable MSI-X of " + name_);
  }
  msix_enabled_ = true;
  return {};
}

// `eventfd` of -1 takes the handler away.
Status Function::set_vector(unsigned vector, int eventfd) const {
  std::vector<char> buffer(sizeof(vfio_irq_set) + sizeof(int));
  vfio_irq_set header{};
  header.argsz = static_cast<__u32>(buffer.size());
  header.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  header.index = VFIO_PCI_MSIX_IRQ_INDEX;
  header.start = vector;
  header.count = 1;
  std::memcpy(buffer.data(), &header, sizeof header);
  std::memcpy(buffer.data() + sizeof header, &eventfd, sizeof eventfd);
  if (::ioctl(file_.get(), VFIO_DEVICE_SET_IRQS, buffer.data()) != 0) {
    return system_error(fmt::format("set vector {} of {}", vector, name_));
  }
  return {};
}

void Function::close_vector(unsigned vector) {
  static_cast<void>(set_vector(vector, -1));
  open_vectors_.erase(vector);
}

Status Function::reset() const {
  if (::ioctl(file_.get(), VFIO_DEVICE_RESET) != 0) return system_error("reset " + name_);
  return {};
}

}  // namespace npu::driver::vfio
