// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "model/config/checks.hpp"
#include "model/config/core_layout.hpp"
#include "npu/abi/dma.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/abi/queue_descriptor.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

// A part of a BAR, and the key whose value decides how far it reaches.
struct Window {
  std::string name;
  std::string key;
  Bytes begin;
  Bytes size;

  Bytes end() const { return begin + size; }
  std::string text() const { return fmt::format("{} {:#x}..{:#x}", name, begin, end() - 1); }
  // All that decides where it lies.
  std::vector<std::string> keys() const {
    return key == "hbm.installed_mib" ? std::vector<std::string>{key, "hbm.usable_mib"}
                                      : std::vector<std::string>{key};
  }
};

// Windows in ascending order of their begin; `bar` holds them all.
CheckResult check_windows(const std::vector<Window>& windows, const Window& bar) {
  for (std::size_t i = 0; i + 1 < windows.size(); ++i) {
    if (windows[i].end() <= windows[i + 1].begin) continue;
    return BrokenRule{windows[i].key,
                      fmt::format("{} overlaps {}", windows[i].text(), windows[i + 1].text()),
                      {windows[i + 1].key}};
  }
  for (const auto& window : windows) {
    if (window.end() <= bar.end()) continue;
    const std::string key = window.key.empty() ? bar.key : window.key;
    return BrokenRule{key, fmt::format("{} does not fit into {}", window.text(), bar.text()),
                      bar.keys()};
  }
  return std::nullopt;
}

CheckResult check_register_bar(const ChipConfig& chip) {
  const auto& pci = chip.pci;
  const std::vector<Window> windows{
      {"global registers", "", abi::kGlobalBlock, 4096},
      {"DMA registers", "", abi::kDmaBlock, 4096},
      {"event registers", "events", abi::kEventBlock, Bytes{chip.events} * abi::kEventStride},
      {"MSI-X table", "pci.msix_vectors", abi::kMsixTableOffset, Bytes{pci.msix_vectors} * 16},
      {"MSI-X pending bits", "pci.msix_vectors", abi::kMsixPbaOffset,
       ceil_div(pci.msix_vectors, 64) * 8},
  };
  const Window bar{"BAR0", "pci.bar0_size_kib", 0, pci.bar0_size};
  if (pci.bar0_size < abi::kBar0Size) {
    return BrokenRule{bar.key, fmt::format("registers, events and MSI-X need {} KiB, BAR0 has {}",
                                           abi::kBar0Size >> 10, pci.bar0_size >> 10)};
  }
  return check_windows(windows, bar);
}

CheckResult check_memory_bar(const ChipConfig& chip) {
  const Bytes usable = chip.hbm.usable;
  if (chip.pci.bar2_size < chip.hbm.installed) {
    return BrokenRule{"pci.bar2_size_gib",
                      fmt::format("BAR2 has {} MiB and must show all {} MiB of installed HBM",
                                  chip.pci.bar2_size >> 20, chip.hbm.installed >> 20),
                      {"hbm.installed_mib"}};
  }
  const std::vector<Window> windows{
      {"DMA ring", "hbm.installed_mib", usable + abi::kReservedRingOffset,
       Bytes{abi::kRingEntries} * abi::kRingEntrySize},
      {"stream windows", "streams", usable + abi::kReservedStreamOffset,
       Bytes{chip.streams} * abi::kStreamWindowSize},
      {"doorbell pages", "command.doorbell_pages", usable + abi::kReservedDoorbellOffset,
       Bytes{chip.command.doorbell_pages} * abi::kDoorbellPageSize},
      {"queue descriptors", "hbm.installed_mib", usable + abi::kReservedQueueOffset,
       abi::kReservedQueueSize},
      {"context table", "hbm.installed_mib", usable + abi::kReservedContextOffset, abi::kTableSize},
      {"page tables", "hbm.installed_mib", usable + abi::kReservedTableOffset,
       abi::kReservedTableSize},
  };
  const Window hbm{"installed HBM", "hbm.installed_mib", 0, chip.hbm.installed};
  return check_windows(windows, hbm);
}

CheckResult check_sriov(const ChipConfig& chip) {
  const PciFunctionConfig& pci = chip.pci;
  const unsigned vfs = pci.sriov_total_vfs;
  if (vfs == 0) return std::nullopt;
  if (pci.sriov_first_vf_offset == 0) {
    return BrokenRule{"pci.sriov_first_vf_offset",
                      "must not be 0 with virtual functions",
                      {"pci.sriov_total_vfs"}};
  }
  if (pci.sriov_vf_stride == 0) {
    return BrokenRule{
        "pci.sriov_vf_stride", "must not be 0 with virtual functions", {"pci.sriov_total_vfs"}};
  }
  const unsigned last = pci.sriov_first_vf_offset + (vfs - 1) * pci.sriov_vf_stride;
  if (last > 255) {
    return BrokenRule{
        "pci.sriov_total_vfs",
        fmt::format("the last VF would be function {} of a bus that has 0..255", last),
        {"pci.sriov_first_vf_offset", "pci.sriov_vf_stride"}};
  }
  if (pci.sriov_vf_device_id == 0 || pci.sriov_vf_device_id == 0xFFFF) {
    return BrokenRule{"pci.sriov_vf_device_id", "is no device id", {"pci.sriov_total_vfs"}};
  }
  return std::nullopt;
}

CheckResult check_l2(const ChipConfig& chip) {
  const L2Config& l2 = chip.l2;
  if (l2.size == 0) return std::nullopt;
  const Bytes set = l2.line * l2.ways * l2.slices;
  const Bytes sets = l2.size / set;
  if (sets == 0 || l2.size % set != 0 || (sets & (sets - 1)) != 0) {
    return BrokenRule{"l2.ways",
                      fmt::format("size_mib {} in lines of {} bytes, {} ways and {} slices is not "
                                  "a power of two of sets",
                                  l2.size >> 20, l2.line, l2.ways, l2.slices),
                      {"l2.size_mib", "l2.line_bytes", "l2.slices"}};
  }
  constexpr unsigned kTagBits = 29;  // model/l2/line_store.hpp
  if (chip.hbm.installed / l2.line / l2.slices / sets >> kTagBits != 0) {
    return BrokenRule{"l2.line_bytes",
                      "the tags have no room for addresses of the installed HBM",
                      {"l2.size_mib", "l2.ways", "hbm.installed_mib"}};
  }
  if (chip.hbm.installed % (l2.line * l2.slices) != 0) {
    return BrokenRule{"l2.slices",
                      "the installed HBM is no whole number of lines of all slices",
                      {"l2.line_bytes", "hbm.installed_mib"}};
  }
  return std::nullopt;
}

// A request must fit into each of the three, or it never leaves.
CheckResult check_hccs(const ChipConfig& chip) {
  const HccsConfig& hccs = chip.hccs;
  const std::pair<const char*, Bytes> limits[] = {
      {"hccs.receive_buffer_kib", hccs.receive_buffer},
      {"hccs.max_outstanding_reads_kib", hccs.max_outstanding_reads},
      {"hccs.max_outstanding_writes_kib", hccs.max_outstanding_writes}};
  for (const auto& [key, limit] : limits) {
    if (limit >= chip.dma.device_chunk) continue;
    return BrokenRule{key,
                      fmt::format("{} bytes never admit a request of device_chunk_bytes {}", limit,
                                  chip.dma.device_chunk),
                      {"dma.device_chunk_bytes"}};
  }
  return std::nullopt;
}

// AICPUs and AI Cores read one counter.
CheckResult check_counter(const ChipConfig& chip) {
  if (chip.core.counter_hz == chip.aicpu_core.counter_hz) return std::nullopt;
  return BrokenRule{
      "aicpu_core.counter_mhz",
      fmt::format("aicpu_core.counter_mhz {} is not core.counter_mhz {}",
                  chip.aicpu_core.counter_hz / 1'000'000, chip.core.counter_hz / 1'000'000),
      {"core.counter_mhz"}};
}

CheckResult check_loads(const AicpuProgramConfig& aicpu) {
  if (aicpu.l1_other_line >= aicpu.l1_hit) return std::nullopt;
  return BrokenRule{"aicpu_core.l1_other_line_ns",
                    fmt::format("l1_other_line_ns, {} ps, is less than l1_hit_ns, {} ps",
                                aicpu.l1_other_line.count(), aicpu.l1_hit.count()),
                    {"aicpu_core.l1_hit_ns"}};
}

CheckResult check_core(const ProgramCoreConfig& core) {
  if (core.outstanding >= core.segment) return std::nullopt;
  return BrokenRule{"core.outstanding_kib",
                    fmt::format("{} bytes never admit a request of core.segment_bytes {}",
                                core.outstanding, core.segment),
                    {"core.segment_bytes"}};
}

// Queues name the cores they may use, one bit each.
CheckResult check_core_count(const ChipConfig& chip) {
  const CoreLayout layout(chip);
  constexpr unsigned kMost = 64 * abi::kCoreMaskWords;
  if (layout.cores() <= kMost) return std::nullopt;
  return BrokenRule{
      "ai_cores",
      fmt::format("{} clusters of {} have {} cores, a core mask has {} bits", layout.clusters(),
                  1 + layout.vector_cores(), layout.cores(), kMost),
      {"core.type"}};
}

CheckResult check_link_and_dma(const ChipConfig& chip) {
  const LinkConfig& link = chip.link;
  if (link.data_credits < link.max_payload) {
    return BrokenRule{"link.data_credits_bytes",
                      fmt::format("{} bytes of credit never admit a TLP of max_payload_bytes {}",
                                  link.data_credits, link.max_payload),
                      {"link.max_payload_bytes"}};
  }
  if (chip.dma.buffer < link.max_read_request) {
    return BrokenRule{"dma.buffer_kib",
                      fmt::format("{} bytes cannot take a read of max_read_request_bytes {}",
                                  chip.dma.buffer, link.max_read_request),
                      {"link.max_read_request_bytes"}};
  }
  if (chip.dma.buffer < chip.dma.device_chunk) {
    return BrokenRule{"dma.buffer_kib",
                      fmt::format("{} bytes cannot take a device_chunk_bytes of {}",
                                  chip.dma.buffer, chip.dma.device_chunk),
                      {"dma.device_chunk_bytes"}};
  }
  return std::nullopt;
}

}  // namespace

CheckResult check_chip(const ChipConfig& chip) {
  if (auto broken = check_register_bar(chip)) return broken;
  if (auto broken = check_hbm(chip.hbm)) return broken;
  if (auto broken = check_memory_bar(chip)) return broken;
  if (auto broken = check_sriov(chip)) return broken;
  if (auto broken = check_l2(chip)) return broken;
  if (auto broken = check_hccs(chip)) return broken;
  if (auto broken = check_core_count(chip)) return broken;
  if (auto broken = check_counter(chip)) return broken;
  if (auto broken = check_loads(chip.aicpu_core)) return broken;
  if (auto broken = check_core(chip.core)) return broken;
  return check_link_and_dma(chip);
}

}  // namespace npu::model
