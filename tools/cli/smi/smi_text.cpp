// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/smi/smi_text.hpp"

#include <fmt/format.h>

#include <array>

#include "tools/cli/smi/card_counters.hpp"

namespace npu::cli {
namespace {

constexpr const char* kUnknown = "NA";
constexpr std::array<const char*, 4> kHealth{"OK", "Minor", "Major", "Critical"};
constexpr int kNameWidth = 34;

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string(kUnknown);
}

std::string health_of(const CardFacts& card) {
  return card.health && *card.health < kHealth.size() ? kHealth[*card.health] : kUnknown;
}

std::string memory_of(const CardFacts& card) {
  if (!card.memory) return kUnknown;
  return fmt::format("{} / {}", card.memory->memory_usage / 1024, card.memory->memory_size / 1024);
}

std::string power_of(const CardFacts& card) {
  if (!card.power) return kUnknown;
  return fmt::format("{}.{}", *card.power / 10, *card.power % 10);
}

constexpr const char* kRule =
    "+-----+------------------+----------+-------+-------+------------------+--------------------+"
    "\n";

std::string row(const std::string& id, const std::string& name, const std::string& health,
                const std::string& power, const std::string& temperature, const std::string& use,
                const std::string& memory) {
  return fmt::format("| {:<3} | {:<16} | {:<8} | {:>5} | {:>5} | {:>16} | {:>18} |\n", id, name,
                     health, power, temperature, use, memory);
}

std::string processes_text(const std::vector<CardFacts>& cards) {
  std::string rows;
  bool known = false;
  for (const auto& card : cards) {
    if (!card.processes) continue;
    known = true;
    for (const auto& process : *card.processes) {
      const auto bytes = process.memory;
      rows += fmt::format("| {:<3} | {:<16} | {:>10} |\n", card.id, process.pid,
                          bytes ? fmt::format("{}", *bytes >> 20) : kUnknown);
    }
  }
  const std::string rule = "+-----+------------------+------------+\n";
  const std::string head =
      rule + fmt::format("| {:<3} | {:<16} | {:>10} |\n", "NPU", "Process", "HBM(MB)");
  if (!known) return {};
  return head + rule + (rows.empty() ? "| no process                          |\n" : rows) + rule;
}

class Lines {
 public:
  template <class T>
  void add(const char* name, const T& value) {
    text_ += fmt::format("\t{:<{}} : {}\n", name, kNameWidth, value);
  }
  void add(Page page, const CardFacts& card) {
    for (const auto& row : kCardCounters) {
      if (row.line.page != page) continue;
      auto value = row.of(card);
      if (value) *value /= row.line.by;
      add(row.line.name, text_of(value));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string list_of(const std::vector<unsigned>& values) {
  std::string text;
  for (const auto value : values) text += fmt::format("{}{}", text.empty() ? "" : " ", value);
  return text.empty() ? kUnknown : text;
}

void add_usages(Lines& lines, const CardFacts& card) {
  lines.add(Page::kMemoryUse, card);
  lines.add(Page::kCoreUse, card);
  lines.add("Ctrlcpu Usage Rate(%)", kUnknown);
  lines.add("Aicore Usage Rate by core(%)", list_of(card.cores));
  lines.add("Aivector Usage Rate by core(%)", list_of(card.vector_cores));
}

void add_memory(Lines& lines, const CardFacts& card) {
  lines.add("DDR Capacity(MB)", kUnknown);
  if (!card.memory) return lines.add("HBM Capacity(KB)", kUnknown);
  lines.add(Page::kMemory, card);
  lines.add("HBM Temperature(C)", kUnknown);
}

void add_ecc(Lines& lines, const CardFacts& card) {
  if (!card.ecc || !card.pages) return lines.add("HBM ECC", kUnknown);
  lines.add(Page::kEcc, card);
}

void add_pcie(Lines& lines, const CardFacts& card) {
  lines.add("PCIe Bus Info", card.bus_address());
  lines.add("Vendor ID", fmt::format("{:#06x}", card.pci.venderid));
  lines.add("Device ID", fmt::format("{:#06x}", card.pci.deviceid));
  lines.add("Subvendor ID", fmt::format("{:#06x}", card.pci.subvenderid));
  lines.add("Subdevice ID", fmt::format("{:#06x}", card.pci.subdeviceid));
  if (card.link) lines.add(Page::kLink, card);
  if (!card.traffic) return lines.add("Received(bytes)", kUnknown);
  lines.add(Page::kTraffic, card);
  lines.add("Link Errors", kUnknown);
}

void add_virtual_devices(Lines& lines, const CardFacts& card) {
  if (!card.virtual_total || !card.virtual_free) return lines.add("vNPU", kUnknown);
  lines.add("vNPU Count", card.virtual_total->vdev_num);
  for (unsigned i = 0; i < card.virtual_total->vdev_num && i < DSMI_SOC_SPLIT_MAX; ++i) {
    lines.add("vNPU ID", card.virtual_total->vdev_id[i]);
  }
  lines.add("Total AI Cores", card.virtual_total->computing.aic);
  lines.add("Total Memory(MB)", card.virtual_total->computing.memory_size);
  lines.add("Free AI Cores", card.virtual_free->computing.aic);
  lines.add("Free Memory(MB)", card.virtual_free->computing.memory_size);
}

}  // namespace

std::string summary_text(const std::vector<CardFacts>& cards) {
  std::string text = kRule;
  text += row("NPU", "Name", "Health", "P(W)", "T(C)", "AI Core(%)", "");
  text += row("", "Bus-Id", "", "", "", "AICPU(%)", "HBM-Usage(MB)");
  for (const auto& card : cards) {
    text += kRule;
    text += row(fmt::format("{}", card.id), card.name(), health_of(card), power_of(card),
                text_of(card.temperature), text_of(card.uses[DSMI_UTILIZATION_CORE]), "");
    text += row("", card.bus_address(), "", "", "", text_of(card.uses[DSMI_UTILIZATION_AICPU]),
                memory_of(card));
  }
  return text + kRule + processes_text(cards);
}

std::string detail_text(const std::vector<CardFacts>& cards, const std::string& kind) {
  std::string text;
  for (const auto& card : cards) {
    Lines lines;
    lines.add("NPU ID", card.id);
    lines.add("Chip Name", card.name());
    if (kind == "usages") add_usages(lines, card);
    if (kind == "memory") add_memory(lines, card);
    if (kind == "ecc") add_ecc(lines, card);
    if (kind == "pcie") add_pcie(lines, card);
    if (kind == "info-vnpu") add_virtual_devices(lines, card);
    text += (text.empty() ? "" : "\n") + lines.take();
  }
  return text;
}

std::string template_text(const model::SystemConfig& config) {
  std::string text =
      fmt::format("{:<4} {:<18} {:>8} {:>11} {:>7} {:>4} {:>6} {:>6} {:>5} {:>5}\n", "NPU", "Name",
                  "AI Core", "Memory(MB)", "AICPU", "VPC", "JPEGD", "JPEGE", "VENC", "VDEC");
  for (std::size_t card = 0; card < config.cards.size(); ++card) {
    for (const auto& each : config.cards[card].virtual_functions.templates) {
      const auto& media = each.media;
      text += fmt::format("{:<4} {:<18} {:>8} {:>11} {:>7} {:>4} {:>6} {:>6} {:>5} {:>5}\n", card,
                          each.name, each.ai_cores, each.memory >> 20, each.aicpus, media.vpc,
                          media.jpegd, media.jpege, media.venc, media.vdec);
    }
  }
  return text;
}

}  // namespace npu::cli
