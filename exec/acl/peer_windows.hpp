// SPDX-License-Identifier: Apache-2.0
// Memory of a program on other cards as one card's copies reach it: each block is mapped into the
// card's address space when a copy first needs it, until its owner frees it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "exec/acl/outcome.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/platform/time.hpp"

namespace npu::exec::acl {

class PeerWindows {
 public:
  PeerWindows(driver::AddressSpace& space, platform::Tasks& tasks)
      : space_(space), lock_(tasks.make_mutex()) {}

  // Where this card reaches `at` of `owner`, a space of card `device`. kRuntimeParameter: nothing
  // is mapped there; kFeature: no link to that card.
  Value<driver::DeviceAddress> find(const driver::AddressSpace& owner, std::uint32_t device,
                                    driver::DeviceAddress at);
  // Some of these addresses of the card are mapped here.
  bool has(std::uint32_t device, driver::DeviceAddress at) const;
  // They are not any more. Nothing in flight uses them.
  void drop(std::uint32_t device, driver::DeviceAddress at);
  void drop(std::uint32_t device);

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // device, where the block begins there
  struct Window {
    Bytes size = 0;
    driver::DeviceAddress here;
    driver::MemoryHandle memory;
  };
  using Windows = std::map<Place, Window>;
  Windows::const_iterator containing(std::uint32_t device, driver::DeviceAddress at) const;
  Value<Window> open(const driver::AddressSpace& owner, const driver::AddressRange& range);
  void close(const Window& window);

  driver::AddressSpace& space_;
  std::unique_ptr<platform::Mutex> lock_;
  Windows windows_;
};

}  // namespace npu::exec::acl
