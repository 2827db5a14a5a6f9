// SPDX-License-Identifier: Apache-2.0
// Memory of a program on other cards as one card's copies reach it: each block is mapped into the
// card's address space when a copy first needs it, until its owner frees it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/platform/time.hpp"

namespace npu::exec::acl {

// Given back when nobody has it any more.
using SharedMemoryHandle = std::shared_ptr<const driver::MemoryHandle>;

SharedMemoryHandle share_handle(driver::AddressSpace& space, driver::MemoryHandle memory);

class PeerWindows {
 public:
  PeerWindows(driver::AddressSpace& space, platform::Tasks& tasks)
      : space_(space), lock_(tasks.make_mutex()) {}

  struct Reached {
    driver::DeviceAddress address;
    Bytes left = 0;  // to the end of the block
  };
  // Where this card reaches `at` of `owner`, a space of card `device`. kRuntimeParameter: nothing
  // is mapped there; kFeature: no link to that card.
  Value<Reached> find(const driver::AddressSpace& owner, std::uint32_t device,
                      driver::DeviceAddress at);
  // Memory of `owner` for mappings on this card; the same one for all of them. kFeature: no link.
  Value<SharedMemoryHandle> import(const driver::AddressSpace& owner, std::uint32_t device,
                                   driver::MemoryHandle memory);
  // Some of these addresses of the card are mapped here.
  bool has(std::uint32_t device, driver::DeviceAddress at, Bytes size) const;
  // What is mapped of `size` bytes from there on is not any more. Nothing in flight uses it.
  void drop(std::uint32_t device, driver::DeviceAddress at, Bytes size);
  void drop(std::uint32_t device) { drop(device, {0}, UINT64_MAX); }

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // device, where the block begins there
  struct Window {
    Bytes size = 0;
    driver::DeviceAddress here;
    SharedMemoryHandle memory;
  };
  using Windows = std::map<Place, Window>;
  Windows::const_iterator containing(std::uint32_t device, driver::DeviceAddress at) const;
  Value<Window> open(const driver::AddressSpace& owner, std::uint32_t device,
                     const driver::AddressRange& range);
  void close(const Window& window);

  driver::AddressSpace& space_;
  std::unique_ptr<platform::Mutex> lock_;
  Windows windows_;
  // By device, and by what its space calls the memory.
  using Owned = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Owned, std::weak_ptr<const driver::MemoryHandle>> imports_;
};

}  // namespace npu::exec::acl
