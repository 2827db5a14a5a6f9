// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/interrupts.hpp"

#include <cerrno>

#include "model/host/vfio_user/eventfd.hpp"
#include "npu/base/checked.hpp"

namespace npu::model::vfio_user {
namespace {

constexpr std::uint32_t kDataFlags = kDataNone | kDataBool | kDataEventfd;
constexpr std::uint32_t kActionFlags = kActionMask | kActionUnmask | kActionTrigger;

bool can_be_masked(unsigned index) {
  return index <= kMsixIndex;
}

// The checks that hold for all forms.
bool is_sane(const IrqSet& request) {
  return request.argsz >= sizeof request && request.index < kIrqTypeCount &&
         (request.flags & ~(kDataFlags | kActionFlags)) == 0 &&
         is_power_of_two(request.flags & kDataFlags) &&
         is_power_of_two(request.flags & kActionFlags);
}

}  // namespace

Interrupts::Interrupts(ServedDevice& device) : device_(device) {
  for (unsigned i = 0; i < kIrqTypeCount; ++i) vectors_[i].resize(device.irq_count(i));
}

std::uint32_t Interrupts::info_flags(unsigned index) {
  // Vectors can be set one by one at any time, hence no NORESIZE.
  std::uint32_t flags = kIrqEventfd;
  if (can_be_masked(index)) flags |= kIrqMaskable;
  if (index == kIntxIndex) flags |= kIrqAutomasked;
  return flags;
}

void Interrupts::assign(unsigned index, unsigned vector, Action action, UniqueFd fd) {
  UniqueFd& place = vectors_[index][vector][action];
  if (action == kTrigger && (fd || place)) device_.set_trigger(index, vector, fd.get());
  place = std::move(fd);  // closes the old one, which the device has given up now
}

void Interrupts::act(unsigned index, unsigned vector, Action action) {
  if (action != kTrigger) device_.mask(index, vector, action == kMask);
  const UniqueFd& eventfd = vectors_[index][vector][action];
  if (eventfd) signal_eventfd(eventfd.get());
}

int Interrupts::set_eventfds(const IrqSet& request, Action action, std::vector<UniqueFd>& fds) {
  if (!fds.empty() && fds.size() != request.count) return EINVAL;
  for (const auto& fd : fds) {
    if (!prepare_eventfd(fd.get())) return EINVAL;
  }
  for (unsigned i = 0; i < request.count; ++i) {
    assign(request.index, request.start + i, action, fds.empty() ? UniqueFd() : std::move(fds[i]));
  }
  return 0;
}

void Interrupts::disable(unsigned index) {
  for (unsigned vector = 0; vector < vectors_[index].size(); ++vector) {
    for (const Action action : {kMask, kUnmask, kTrigger}) {
      assign(index, vector, action, UniqueFd());
    }
  }
}

int Interrupts::set(const std::vector<std::byte>& payload, std::vector<UniqueFd>& fds) {
  const auto request = load<IrqSet>(payload);
  if (!is_sane(request)) return EINVAL;
  const bool masking = (request.flags & kActionTrigger) == 0;
  if (masking && !can_be_masked(request.index)) return EINVAL;
  if (request.count == 0) {
    if (request.start != 0 || request.flags != (kDataNone | kActionTrigger)) return EINVAL;
    disable(request.index);
    return 0;
  }
  if (!range_fits(request.start, request.count, vectors_[request.index].size())) return EINVAL;
  const Action action = !masking ? kTrigger : (request.flags & kActionMask) != 0 ? kMask : kUnmask;
  if ((request.flags & kDataEventfd) != 0) return set_eventfds(request, action, fds);
  const bool chosen = (request.flags & kDataBool) != 0;
  if (chosen && payload.size() - sizeof request < request.count) return EINVAL;
  for (unsigned i = 0; i < request.count; ++i) {
    if (chosen && payload[sizeof request + i] == std::byte{0}) continue;
    act(request.index, request.start + i, action);
  }
  return 0;
}

void Interrupts::clear() {
  for (unsigned index = 0; index < kIrqTypeCount; ++index) disable(index);
}

}  // namespace npu::model::vfio_user
