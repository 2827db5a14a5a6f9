// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/info_buffer.hpp"

#include <linux/vfio.h>

namespace npu::driver::vfio {
namespace {

constexpr std::uint32_t kLargest = 1 << 20;

}  // namespace

InfoBuffer::InfoBuffer(std::size_t fixed, std::size_t cap_offset, const Ask& ask,
                       const Prepare& prepare)
    : fixed_(fixed), cap_offset_(cap_offset), bytes_(fixed) {
  if (!ask_once(ask, prepare)) return;
  const auto wanted = load<std::uint32_t>(0).value_or(0);
  if (wanted <= bytes_.size() || wanted > kLargest) return;
  bytes_.resize(wanted);
  ask_once(ask, prepare);
}

bool InfoBuffer::ask_once(const Ask& ask, const Prepare& prepare) {
  std::memset(bytes_.data(), 0, bytes_.size());
  if (prepare) prepare(bytes_.data());
  const auto size = static_cast<std::uint32_t>(bytes_.size());
  std::memcpy(bytes_.data(), &size, sizeof size);
  const bool answered = ask(bytes_.data()) == 0;
  if (!answered) bytes_.clear();
  return answered;
}

std::optional<std::size_t> InfoBuffer::find_capability(std::uint16_t id) const {
  std::size_t at = load<std::uint32_t>(cap_offset_).value_or(0);
  // Each has a header at least, so that more steps than that are a loop.
  for (std::size_t step = 0; at >= fixed_ && step < bytes_.size(); ++step) {
    const auto header = load<vfio_info_cap_header>(at);
    if (!header) break;
    if (header->id == id) return at;
    at = header->next;
  }
  return std::nullopt;
}

}  // namespace npu::driver::vfio
