// SPDX-License-Identifier: Apache-2.0
// DEVICE_SET_IRQS: which eventfd stands for which interrupt.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/host/vfio_user/protocol.hpp"
#include "model/host/vfio_user/served_device.hpp"
#include "model/host/vfio_user/unique_fd.hpp"

namespace npu::model::vfio_user {

class Interrupts {
 public:
  explicit Interrupts(ServedDevice& device);
  ~Interrupts() { clear(); }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static std::uint32_t info_flags(unsigned index);

  // 0 or EINVAL, and then nothing has changed. `payload` holds an IrqSet at least. What it keeps of
  // `fds` it moves out.
  //  TRIGGER  EVENTFD: sets one eventfd per vector, or with no descriptor at all takes them back;
  //           NONE, BOOL: signals the vectors' eventfds; NONE with start and count 0: takes all
  //           eventfds of the index back.
  //  MASK, UNMASK (INTx, MSI, MSI-X)  NONE, BOOL: masks or unmasks;
  //           EVENTFD: eventfds that are signalled when that happens, or takes them back.
  int set(const std::vector<std::byte>& payload, std::vector<UniqueFd>& fds);
  void clear();

 private:
  enum Action { kMask, kUnmask, kTrigger, kActions };
  using Vector = std::array<UniqueFd, kActions>;  // the eventfd of each action

  int set_eventfds(const IrqSet& request, Action action, std::vector<UniqueFd>& fds);
  void act(unsigned index, unsigned vector, Action action);
  void assign(unsigned index, unsigned vector, Action action, UniqueFd fd);
  void disable(unsigned index);

  ServedDevice& device_;
  std::array<std::vector<Vector>, kIrqTypeCount> vectors_;  // by index
};

}  // namespace npu::model::vfio_user
