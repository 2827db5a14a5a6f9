// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/function_interrupts.hpp"

#include <fmt/format.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>

#include <cstring>
#include <vector>

namespace npu::driver::vfio {
namespace {

constexpr int kNoHandler = -1;

vfio_irq_info irq_info(Kernel& kernel, int device, unsigned index) {
  vfio_irq_info info{};
  info.argsz = sizeof info;
  info.index = index;
  if (kernel.ioctl(device, VFIO_DEVICE_GET_IRQ_INFO, &info) != 0) info = {};
  return info;
}

// As VFIO_DEVICE_SET_IRQS: negative, or how many there could be, or 0.
int set_triggers(Kernel& kernel, int device, unsigned index, unsigned first, unsigned count,
                 int eventfd) {
  const std::vector<int> files(count, eventfd);
  vfio_irq_set header{};
  std::vector<char> buffer(sizeof header + count * sizeof(int));
  header.argsz = static_cast<__u32>(buffer.size());
  header.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  header.index = index;
  header.start = first;
  header.count = count;
  std::memcpy(buffer.data(), &header, sizeof header);
  std::memcpy(buffer.data() + sizeof header, files.data(), count * sizeof(int));
  return kernel.ioctl(device, VFIO_DEVICE_SET_IRQS, buffer.data());
}

}  // namespace

void FunctionInterrupts::read() {
  const auto info = irq_info(kernel_, device_, VFIO_PCI_MSIX_IRQ_INDEX);
  vectors_ = info.count;
  can_add_ = (info.flags & VFIO_IRQ_INFO_NORESIZE) == 0;
}

FileDescriptor FunctionInterrupts::subscribe(unsigned irq_index) const {
  const auto info = irq_info(kernel_, device_, irq_index);
  if (info.count == 0 || !(info.flags & VFIO_IRQ_INFO_EVENTFD)) return FileDescriptor();
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return FileDescriptor();
  if (set_triggers(kernel_, device_, irq_index, 0, 1, event.get()) != 0) return FileDescriptor();
  return event;
}

Result<FileDescriptor> FunctionInterrupts::open(unsigned vector) {
  if (vector >= vectors_) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("vector {} of {}: it has {}", vector, name_, vectors_));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_.count(vector)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("vector {} of {} is open", vector, name_));
  }
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return system_error("eventfd");
  if (auto ok = enable_msix(vector); !ok) return forward_error(ok);
  const auto what = fmt::format("set vector {} of {}", vector, name_);
  if (auto ok = set_vectors(vector, 1, event.get(), what); !ok) return forward_error(ok);
  open_.insert(vector);
  return event;
}

// Where vectors can be added later, only up to this one for now. Elsewhere (NORESIZE: adding one
// would take disabling all others) the whole table, without handlers, or as much of it as the
// machine has vectors for: the answer says how many.
Status FunctionInterrupts::enable_msix(unsigned vector) {
  if (enabled_ > 0) {
    if (vector < enabled_ || can_add_) return {};
    return fail(ErrorCode::kOutOfResources,
                fmt::format("vector {} of {}: the machine has {} for it", vector, name_, enabled_));
  }
  unsigned count = can_add_ ? vector + 1 : vectors_;
  int answer = set_triggers(kernel_, device_, VFIO_PCI_MSIX_IRQ_INDEX, 0, count, kNoHandler);
  if (answer > 0 && static_cast<unsigned>(answer) > vector &&
      static_cast<unsigned>(answer) < count) {
    count = static_cast<unsigned>(answer);
    answer = set_triggers(kernel_, device_, VFIO_PCI_MSIX_IRQ_INDEX, 0, count, kNoHandler);
  }
  if (answer > 0) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("vector {} of {}: the machine has {} for it", vector, name_, answer));
  }
  if (answer < 0) return system_error("enable MSI-X of " + name_);
  enabled_ = count;
  return {};
}

Status FunctionInterrupts::set_vectors(unsigned first, unsigned count, int eventfd,
                                       const std::string& what) const {
  const int answer = set_triggers(kernel_, device_, VFIO_PCI_MSIX_IRQ_INDEX, first, count, eventfd);
  if (answer < 0) return system_error(what);
  if (answer > 0) return fail(ErrorCode::kOutOfResources, what + ": no vector left");
  return {};
}

void FunctionInterrupts::close(unsigned vector) {
  const std::lock_guard<std::mutex> lock(mutex_);
  static_cast<void>(set_vectors(vector, 1, kNoHandler, ""));
  open_.erase(vector);
}

}  // namespace npu::driver::vfio
