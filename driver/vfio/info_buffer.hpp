// SPDX-License-Identifier: Apache-2.0
// VFIO's answers with capabilities behind them (linux/vfio.h, vfio_info_cap_header): asked for
// until they fit, and read with an eye on their end.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

namespace npu::driver::vfio {

class InfoBuffer {
 public:
  using Ask = std::function<int(void*)>;       // fills a buffer and returns as ioctl()
  using Prepare = std::function<void(void*)>;  // writes the question, without its size

  // `fixed`: bytes of the structure before the capabilities; its first word is its size (argsz).
  // `cap_offset`: the place in it of the first capability's offset. Stays empty if `ask` fails.
  InfoBuffer(std::size_t fixed, std::size_t cap_offset, const Ask& ask,
             const Prepare& prepare = {});

  // Nothing: beyond the end.
  template <class T>
  std::optional<T> load(std::size_t at) const {
    if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  // The entries of a capability that is a list: header, u32 count, u32 reserved, entries. Nothing:
  // there is no such capability. Entries beyond the end are left out.
  template <class T>
  std::optional<std::vector<T>> list(std::uint16_t id) const {
    const auto at = find_capability(id);
    const auto count = at ? load<std::uint32_t>(*at + kCountAt) : std::nullopt;
    if (!count) return std::nullopt;
    std::vector<T> entries;
    for (std::size_t i = 0; i < *count; ++i) {
      const auto entry = load<T>(*at + kEntriesAt + i * sizeof(T));
      if (!entry) break;
      entries.push_back(*entry);
    }
    return entries;
  }

 private:
  static constexpr std::size_t kCountAt = 8, kEntriesAt = 16;

  bool ask_once(const Ask& ask, const Prepare& prepare);
  std::optional<std::size_t> find_capability(std::uint16_t id) const;

  std::size_t fixed_, cap_offset_;
  std::vector<char> bytes_;
};

}  // namespace npu::driver::vfio
