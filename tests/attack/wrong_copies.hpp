// SPDX-License-Identifier: Apache-2.0
// Commands that the card must refuse: a fault for them, and nobody else's bytes touched.
#pragma once

#include "tests/attack/process.hpp"
#include "tests/attack/transfers.hpp"

namespace npu::attack {

class WrongCopies {
 public:
  WrongCopies(Process& process, Transfers& transfers)
      : process_(process), random_(process.random), world_(process.world), transfers_(transfers) {}

  // A command with a wrong address at one of its ends.
  void fault();
  // Gives memory back while a copy to it is on its way.
  void pull_away();

 private:
  // Device addresses of which at least one in [address, address + size) must not be used so.
  std::uint64_t wrong_device_address(SpaceModel& space, bool write, Bytes size);
  platform::BusAddress wrong_bus_address(unsigned card, Bytes size);
  void write_to_read_only(const StreamModel& stream);
  void forget(SpaceModel& space, std::uint64_t at, Bytes size);
  void must_fail(const StreamModel& stream, const driver::DmaCommand& command);

  Process& process_;
  fuzz::Random& random_;
  World& world_;
  Transfers& transfers_;
};

}  // namespace npu::attack
