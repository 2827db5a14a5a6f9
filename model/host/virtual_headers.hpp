// SPDX-License-Identifier: Apache-2.0
// The headers of virtual functions as an operating system shows them to drivers: ids, BARs and
// memory decoding, which the functions themselves do not have, come from the physical function
// (SR-IOV 1.1, 3.4.1; Linux' vfio-pci does the same).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

struct VirtualHeader {
  struct Bar {
    std::uint32_t flags = 0;  // the low four bits; 64 bits wide
    std::uint64_t address = 0;
    Bytes size = 0;  // 0: none
  };
  std::uint32_t id = 0;  // device << 16 | vendor
  std::array<Bar, 6> bars{};
  platform::Bdf physical;
};

class VirtualHeaders {
 public:
  bool empty() const { return headers_.empty(); }
  void add(platform::Bdf bdf, const VirtualHeader& header);
  void remove(platform::Bdf bdf) { headers_.erase(bdf.packed()); }
  // Of those of `physical` only these are left.
  void keep(platform::Bdf physical, const std::vector<platform::Bdf>& left);
  // The function was reset: nothing of it is on, and its BARs say again where they lie, whatever
  // its owner had written there.
  void reset(platform::Bdf bdf);
  // The function's header is shown; so is that of nobody else.
  bool knows(platform::Bdf bdf) const { return headers_.count(bdf.packed()) != 0; }

  platform::Bdf physical_of(platform::Bdf bdf) const {
    return headers_.at(bdf.packed()).header.physical;
  }

  // `dword` at `offset`, a multiple of 4, as the function gives it and as drivers see it.
  std::uint32_t shown(platform::Bdf bdf, std::uint32_t offset, std::uint32_t dword) const;
  // A driver writes; what is not the header's is for the function. All of it may reach that.
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value);

 private:
  struct Shown {
    VirtualHeader header;
    std::array<std::uint32_t, 6> bars{};  // registers
    std::uint16_t command = 0;            // those of its bits that the function does not have
  };
  static Shown untouched(const VirtualHeader& header);

  std::map<std::uint32_t, Shown> headers_;
};

}  // namespace npu::model
