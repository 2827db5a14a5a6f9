// SPDX-License-Identifier: Apache-2.0
// Virtual functions of the first card, made before programs start: what a program sees that has one
// is a machine of its own, with that function as its only device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/exec/acl/process.hpp"
#include "npu/driver/virtual_functions.hpp"

namespace npu::exec {

struct CardFunction {
  std::uint32_t index = 0;        // of the virtual function
  std::string resource_template;  // what it has of the card
};

class ProgramFunctions {
 public:
  // Programs that have the same function share this.
  struct Place {
    Place(platform::Platform& platform, std::string soc_name, const driver::VirtualDevice& made,
          const acl::Machine& whole);

    acl::Cards cards;
    driver::MemoryShares shares;
    acl::Machine machine;
    const std::uint32_t id;  // of the virtual device, as tools number it
  };

  // `whole`: what programs without a function have; it outlives this. Divides its first card.
  // kInvalidArgument, with what is wrong: the card cannot be divided like that.
  Status make(const std::vector<CardFunction>& wanted, acl::Machine& whole);
  Place& place(std::size_t number) { return *places_[number]; }
  const std::vector<std::unique_ptr<Place>>& places() const { return places_; }
  Bytes memory_left() const;
  // Before the card is closed; the functions stay.
  void close();

 private:
  std::unique_ptr<driver::VirtualFunctions> functions_;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace npu::exec
