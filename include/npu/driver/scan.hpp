// SPDX-License-Identifier: Apache-2.0
// Enumeration of the PCI hierarchy through configuration reads alone (requirements.md M1).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/export.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

struct Bar {
  std::uint64_t base = 0;  // bus address; 0: not assigned
  Bytes size = 0;          // 0: the function has no such BAR
  bool is_64_bit = false;
  bool prefetchable = false;
  bool is_io = false;
};

// Any function that answers: what its header says.
struct PciFunction {
  platform::Bdf bdf;
  std::uint16_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::uint16_t subsystem_vendor_id = 0;  // type 0 only
  std::uint16_t subsystem_id = 0;         // type 0 only
  std::uint32_t class_code = 0;           // base class << 16 | subclass << 8 | interface
  std::uint8_t revision = 0;
  std::uint8_t header_type = 0;  // without the multi-function bit
  bool multi_function = false;
  std::uint8_t secondary_bus = 0;    // bridges only
  std::uint8_t subordinate_bus = 0;  // bridges only
  int numa_node = -1;                // of its host bridge; -1: unknown

  bool is_bridge() const { return header_type == 1; }
};

struct MsixInfo {
  unsigned vectors = 0;          // 1..2048
  std::uint32_t capability = 0;  // offset in configuration space
  unsigned table_bar = 0;
  std::uint32_t table_offset = 0;
  unsigned pba_bar = 0;
  std::uint32_t pba_offset = 0;
};

// An NPU card that passed the checks for junk (pcie.md F15): its BARs are 64 bits wide,
// large enough and assigned, MSI-X has at least 128 vectors inside a BAR, the subsystem vendor is
// known, and the registers agree with the BARs.
struct CardInfo {
  PciFunction function;
  std::array<Bar, 6> bars;  // [0] registers, [2] device memory; the upper halves stay empty
  MsixInfo msix;
  // From BAR0 registers; 0 if ScanOptions::read_registers is off.
  std::uint32_t device_index = 0;
  std::uint32_t ai_cores = 0;
  Bytes hbm_size = 0;
  std::uint32_t stream_count = 0;
  std::uint32_t event_count = 0;
  Bytes stream_window_base = 0;  // offset in BAR2

  platform::Bdf bdf() const { return function.bdf; }
  int numa_node() const { return function.numa_node; }
  const Bar& register_bar() const { return bars[0]; }
  const Bar& memory_bar() const { return bars[2]; }
};

// A function that looks like an NPU, or a bridge, and cannot be used.
struct Refusal {
  platform::Bdf bdf;
  Error error;
};

struct ScanOptions {
  // Off: absent devices, functions and buses are not probed further. On: all 256 x 32 x 8
  // functions are read. Both find the same.
  bool exhaustive = false;
  // Maps the first 4 KiB of BAR0 of every card to learn core count, memory size and index.
  bool read_registers = true;
};

struct ScanResult {
  std::vector<PciFunction> functions;  // sorted by bus, device, function
  std::vector<CardInfo> cards;         // sorted the same way
  std::vector<Refusal> refused;        // junk that the scan stepped over
  std::uint64_t config_reads = 0;      // what the scan cost
  std::uint64_t config_writes = 0;
};

// kBadDevice only if the platform has no host bridge; unusable functions are listed as refused.
NPU_API Result<ScanResult> scan(platform::Platform& platform, const ScanOptions& options = {});

// One function: header, BAR sizes, MSI-X; not the registers. kNotFound: does not answer;
// kUnsupported: is not an NPU; kBadDevice: its configuration makes no sense; kDeviceLost: vanished
// meanwhile.
NPU_API Result<CardInfo> probe(platform::Platform& platform, platform::Bdf bdf);

}  // namespace npu::driver
