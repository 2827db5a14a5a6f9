// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/caller.hpp"

#include <fmt/format.h>

#include "apps/exec/acl/guard.hpp"

namespace npu::exec::acl {
namespace {

constexpr unsigned kUsualPriority = 7;

}  // namespace

Caller::Caller(Process& process, Channel& channel)
    : process_(process),
      channel_(channel),
      number_(process.next_caller++),
      sleeper_(std::make_shared<Sleeper>(process.machine().platform.tasks())) {
  process_.sleepers.emplace(number_, sleeper_);
}

Caller::~Caller() {
  process_.sleepers.erase(number_);
}

Value<ProcessCard*> Caller::card() {
  if (device_word_ != compat::kDeviceOfContext) return named_card();
  const auto context = process_.contexts.find(context_);
  auto* const card = context == nullptr ? nullptr : process_.card(context->device);
  if (card == nullptr) return fault(kNoContext, "the thread has no context: no device is set");
  return card;
}

Value<ProcessCard*> Caller::named_card() {
  for (std::uint32_t device = 0; device < process_.machine().cards.count(); ++device) {
    auto* const card = process_.card(device);
    const bool asked = device_word_ == compat::kAnyDevice || device_word_ == device + 1;
    if (card != nullptr && asked) return card;
  }
  return fault(kInvalidDevice, "the device is not open");
}

Value<std::shared_ptr<ProgramStream>> Caller::stream(std::uint64_t handle) {
  auto found = find_stream(handle);
  if (found) last_stream_ = *found;
  if (found) (*found)->watched.site = site_;
  return found;
}

Value<std::shared_ptr<ProgramStream>> Caller::find_stream(std::uint64_t handle) {
  const auto context = process_.contexts.find(context_);
  if (context == nullptr) return fault(kNoContext, "the thread has no context: no device is set");
  if (handle == 0 && context->default_stream == 0) {
    const Guard held(process_.lock());
    if (context->default_stream != 0) return find_stream(handle);
    const auto made = process_.make_stream(context_, kUsualPriority);
    if (!made) return forward_fault(made);
    context->default_stream = made->first;
    return made->second;
  }
  const auto found = process_.streams.find(handle == 0 ? context->default_stream : handle);
  if (found == nullptr) return fault(kInvalidHandle, fmt::format("{:#x} is no stream", handle));
  if (found->context != context_) {
    return fault(kStreamContext, fmt::format("stream {:#x} is of another context", handle));
  }
  return found;
}

Value<std::shared_ptr<ProgramEvent>> Caller::event(std::uint64_t handle) {
  const auto found = process_.events.find(handle);
  if (found == nullptr) return fault(kInvalidHandle, fmt::format("{:#x} is no event", handle));
  return found;
}

Value<ProcessCard*> Caller::card_of(driver::DeviceAddress address, Bytes size) {
  auto own = card();
  if (!own) return own;
  const auto known = process_.book.find(address);
  if (known && size > known->size - (address.value - known->begin.value)) {
    return fault(kRuntimeParameter,
                 fmt::format("{} bytes at {:#x} are beyond the end of an allocation of {}", size,
                             address.value, known->size));
  }
  if (const auto* const opened = process_.opened_share_at(address);
      opened != nullptr && !opened->has(address, size)) {
    return fault(kRuntimeParameter,
                 fmt::format("{} bytes at {:#x} are not what is shared", size, address.value));
  }
  if (process_.managed().has(address, size) || (*own)->has(address, size)) return own;
  for (std::uint32_t device = 0; device < process_.machine().cards.count(); ++device) {
    auto* const other = process_.card(device);
    if (other != nullptr && other->has(address, size)) return other;
  }
  return fault(kRuntimeParameter,
               size == 1
                   ? fmt::format("{:#x} is no device memory", address.value)
                   : fmt::format("{} bytes at {:#x} are no device memory", size, address.value));
}

}  // namespace npu::exec::acl
