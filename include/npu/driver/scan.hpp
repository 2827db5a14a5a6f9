// SPDX-License-Identifier: Apache-2.0
// Enumeration of the PCI hierarchy (requirements.md M1), for programs that look for cards. It reads
// configuration space. To size BARs of cards it also writes there, and it maps BAR0
// (ScanOptions::read_registers).
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

// The header of a function that answers.
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
  int numa_node = -1;                // of the host bridge; -1: unknown

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

// A usable NPU card (pcie.md F15): BAR0 and BAR2 have 64 bits, are large enough and assigned; MSI-X
// has at least 128 vectors inside a BAR; the subsystem vendor is known; the registers, if read,
// agree with the BARs.
struct CardInfo {
  PciFunction function;
  std::array<Bar, 6> bars;  // [0] registers, [2] device memory; the upper halves stay empty
  MsixInfo msix;
  // From registers in BAR0; 0 without ScanOptions::read_registers.
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

// An NPU or a bridge that cannot be used, and the reason.
struct Refusal {
  platform::Bdf bdf;
  Error error;
};

struct ScanOptions {
  // True: reads all 256 x 32 x 8 functions. False: skips functions of absent devices and unused
  // buses. Both find the same.
  bool exhaustive = false;
  // Maps the first 4 KiB of every card's BAR0 and reads core count, memory size and index. Memory
  // decoding is on meanwhile.
  bool read_registers = true;
};

struct ScanResult {
  std::vector<PciFunction> functions;  // sorted by bus, device and function
  std::vector<CardInfo> cards;         // sorted the same way
  std::vector<Refusal> refused;        // not in `cards`
  std::uint64_t config_reads = 0;      // of the scan
  std::uint64_t config_writes = 0;
};

// Scans all host bridges. Unusable functions are no error: they are in `refused`.
// kBadDevice: the platform has no host bridge.
NPU_API Result<ScanResult> scan(platform::Platform& platform, const ScanOptions& options = {});

// Reads one function: header, BAR sizes and MSI-X, but no registers.
// kNotFound: no function answers.
// kUnsupported: not an NPU.
// kBadDevice: its configuration space makes no sense.
// kDeviceLost: it stopped answering.
NPU_API Result<CardInfo> probe(platform::Platform& platform, platform::Bdf bdf);

}  // namespace npu::driver
