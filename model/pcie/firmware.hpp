// SPDX-License-Identifier: Apache-2.0
// The BIOS: numbers buses, places BARs, opens bridge windows, before simulated time begins.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "model/pcie/config_space.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

struct PciResource {
  std::uint64_t address = 0;
  Bytes size = 0;           // 0: no such BAR
  std::uint32_t flags = 0;  // low bits of the BAR
};

struct FoundFunction {
  platform::Bdf bdf;
  std::uint32_t id = 0;  // device and vendor where the function itself does not tell; 0: it does
  bool is_bridge = false;
  int numa_node = -1;
  std::array<PciResource, 6> bars{};
  std::array<PciResource, 6> virtual_bars{};  // of its first virtual function
  unsigned most_virtual = 0;                  // TotalVFs: their BARs lie side by side
};

class PlatformFirmware {
 public:
  using Access = std::function<bool(ConfigRequest&)>;

  // Where BARs go: 64-bit non-prefetchable ones need addresses below 4 GiB, because a bridge's
  // non-prefetchable window has 32 bits.
  static constexpr std::uint64_t kLowBase = 0xC000'0000, kLowEnd = 0xFEC0'0000;
  static constexpr std::uint64_t kHighBase = 0x40'0000'0000;

  // Configures everything behind the host bridges; leaves memory decoding on, and bus mastering
  // off at endpoints.
  void run(const Access& access, const std::vector<platform::HostBridge>& bridges);

  // Once more what run() has set on `bus`, where something has been reset.
  void restore(const Access& access, std::uint16_t bus);

  // The virtual functions that `physical` has now, as an operating system finds them.
  std::vector<FoundFunction> virtual_functions(const Access& access, const FoundFunction& physical);

  const std::vector<FoundFunction>& functions() const { return functions_; }
  PciResource resource(platform::Bdf bdf, unsigned bar) const;
  // Of the first virtual function that the physical one can have; the others lie behind it.
  PciResource virtual_resource(platform::Bdf bdf, unsigned bar) const;

 private:
  // What was written where; in the order of the first write to each place.
  struct Setting {
    platform::Bdf bdf;
    std::uint32_t offset;
    unsigned width;
    std::uint32_t value;
  };
  void scan_bus(std::uint16_t bus);
  void set_up_function(platform::Bdf bdf);
  void set_up_bridge(platform::Bdf bdf);
  void set_payload_sizes(platform::Bdf bdf);
  void forward_ari(platform::Bdf bridge, std::uint16_t secondary);
  void place_virtual_bars(FoundFunction& function);
  PciResource place(platform::Bdf bdf, std::uint32_t offset, unsigned copies);
  std::uint32_t find_capability(platform::Bdf bdf, std::uint8_t id);
  std::uint32_t find_extended(platform::Bdf bdf, std::uint16_t id);
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width);
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value);
  void note(const Setting& setting);

  Access access_;
  std::vector<FoundFunction> functions_;
  std::map<std::uint16_t, std::vector<Setting>> settings_;  // by bus
  std::uint64_t low_ = kLowBase;
  std::uint64_t high_ = kHighBase;
  unsigned next_bus_ = 0;
  unsigned last_bus_ = 255;
  int numa_node_ = -1;
};

}  // namespace npu::model
