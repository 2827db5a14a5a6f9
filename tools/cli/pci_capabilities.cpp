// SPDX-License-Identifier: Apache-2.0
// Capabilities by name and, where a person wants to know, by field. Offsets: PCI Express Base
// Specification 4.0, chapters 7.5 (PCI Express), 7.7 (MSI-X), 7.8 (AER), 9.3.3 (SR-IOV).
#include <fmt/format.h>

#include <vector>

#include "npu/abi/pci.hpp"
#include "tools/cli/pci_listing.hpp"

namespace npu::cli {
namespace {

namespace pci = abi::pci;

struct Bit {
  unsigned position;
  const char* name;
};

char sign(std::uint32_t value, unsigned bit) {
  return (value >> bit & 1) != 0 ? '+' : '-';
}

std::string flags(std::uint32_t value, const std::vector<Bit>& bits) {
  std::string text;
  for (const auto& bit : bits) text += fmt::format(" {}{}", bit.name, sign(value, bit.position));
  return text;
}

std::string speed(unsigned code) {
  static constexpr const char* kSpeeds[] = {"?", "2.5", "5", "8", "16", "32"};
  return fmt::format("{}GT/s", kSpeeds[code < 6 ? code : 0]);
}

std::string port_type(unsigned type) {
  switch (type) {
    case 0:
      return "Endpoint";
    case 4:
      return "Root Port";
    case 5:
      return "Upstream Port";
    case 6:
      return "Downstream Port";
    case 9:
      return "Root Complex Integrated Endpoint";
    default:
      return fmt::format("Port type {}", type);
  }
}

std::string express_fields(const PciImage& image, std::uint32_t at) {
  const std::uint32_t device = image.dword(at + pci::kExpDeviceCap);
  const std::uint16_t control = image.word(at + pci::kExpDeviceControl);
  const std::uint32_t link = image.dword(at + pci::kExpLinkCap);
  const std::uint16_t status = image.word(at + pci::kExpLinkStatus);
  return fmt::format(
      "\t\tDevCap: MaxPayload {} bytes, FLReset{}\n"
      "\t\tDevCtl: MaxPayload {} bytes, MaxReadReq {} bytes\n"
      "\t\tDevSta:{}\n"
      "\t\tLnkCap: Speed {}, Width x{}\n"
      "\t\tLnkSta: Speed {}, Width x{}\n",
      128U << (device & 7), sign(device, 28), 128U << (control >> 5 & 7),
      128U << (control >> 12 & 7),
      flags(
          image.word(at + pci::kExpDeviceStatus),
          {{0, "CorrErr"}, {1, "NonFatalErr"}, {2, "FatalErr"}, {3, "UnsupReq"}, {5, "TransPend"}}),
      speed(link & 0xF), link >> 4 & 0x3F, speed(status & 0xFU), status >> 4 & 0x3F);
}

std::string msix_fields(const PciImage& image, std::uint32_t at) {
  const std::uint32_t table = image.dword(at + pci::kMsixTable);
  const std::uint32_t pending = image.dword(at + pci::kMsixPba);
  return fmt::format(
      "\t\tVector table: BAR={} offset={:08x}\n"
      "\t\tPBA: BAR={} offset={:08x}\n",
      table & pci::kMsixBirMask, table & ~pci::kMsixBirMask, pending & pci::kMsixBirMask,
      pending & ~pci::kMsixBirMask);
}

std::string aer_fields(const PciImage& image, std::uint32_t at) {
  const std::vector<Bit> uncorrectable{{4, "DLP"},       {5, "SDES"},      {12, "TLP"},
                                       {13, "FCP"},      {14, "CmpltTO"},  {15, "CmpltAbrt"},
                                       {16, "UnxCmplt"}, {17, "RxOF"},     {18, "MalfTLP"},
                                       {19, "ECRC"},     {20, "UnsupReq"}, {21, "ACSViol"}};
  const std::vector<Bit> correctable{{0, "RxErr"},    {6, "BadTLP"},   {7, "BadDLLP"},
                                     {8, "Rollover"}, {12, "Timeout"}, {13, "AdvNonFatalErr"}};
  std::string text;
  text += "\t\tUESta:" + flags(image.dword(at + 0x04), uncorrectable) + "\n";
  text += "\t\tUEMsk:" + flags(image.dword(at + 0x08), uncorrectable) + "\n";
  text += "\t\tUESvrt:" + flags(image.dword(at + 0x0C), uncorrectable) + "\n";
  text += "\t\tCESta:" + flags(image.dword(at + 0x10), correctable) + "\n";
  text += "\t\tCEMsk:" + flags(image.dword(at + 0x14), correctable) + "\n";
  return text + fmt::format("\t\tHeaderLog: {:08x} {:08x} {:08x} {:08x}\n", image.dword(at + 0x1C),
                            image.dword(at + 0x20), image.dword(at + 0x24), image.dword(at + 0x28));
}

std::string sriov_fields(const PciImage& image, std::uint32_t at) {
  std::string text = fmt::format(
      "\t\tIOVCtl:{}\n"
      "\t\tInitial VFs: {}, Total VFs: {}, Number of VFs: {}\n"
      "\t\tVF offset: {}, stride: {}, Device ID: {:04x}\n"
      "\t\tSupported Page Size: {:08x}, System Page Size: {:08x}\n",
      flags(image.word(at + 0x08), {{0, "Enable"}, {3, "MSE"}, {4, "ARIHierarchy"}}),
      image.word(at + 0x0C), image.word(at + 0x0E), image.word(at + 0x10), image.word(at + 0x14),
      image.word(at + 0x16), image.word(at + 0x1A), image.dword(at + 0x1C), image.dword(at + 0x20));
  for (unsigned bar = 0; bar < 6; ++bar) {
    const std::uint32_t low = image.dword(at + 0x24 + 4 * bar);
    if (low == 0) continue;
    const bool wide = (low & pci::kBarTypeMask) == pci::kBarType64;
    const std::uint64_t high = wide && bar < 5 ? image.dword(at + 0x28 + 4 * bar) : 0;
    text += fmt::format("\t\tRegion {}: Memory at {:x} ({}-bit, {}prefetchable)\n", bar,
                        high << 32 | (low & ~pci::kBarFlagsMask), wide ? 64 : 32,
                        (low & pci::kBarPrefetchable) != 0 ? "" : "non-");
    if (wide) ++bar;
  }
  return text;
}

std::string extended_name(std::uint16_t id) {
  switch (id) {
    case pci::kExtAer:
      return "Advanced Error Reporting";
    case pci::kExtSerialNumber:
      return "Device Serial Number";
    case pci::kExtAcs:
      return "Access Control Services";
    case pci::kExtAri:
      return "Alternative Routing-ID Interpretation (ARI)";
    case pci::kExtAts:
      return "Address Translation Service (ATS)";
    case pci::kExtSriov:
      return "Single Root I/O Virtualization (SR-IOV)";
    case pci::kExtPri:
      return "Page Request Interface (PRI)";
    case pci::kExtLtr:
      return "Latency Tolerance Reporting";
    case pci::kExtSecondaryPcie:
      return "Secondary PCI Express";
    case pci::kExtPasid:
      return "Process Address Space ID (PASID)";
    case pci::kExtDataLinkFeature:
      return "Data Link Feature";
    case pci::kExt16Gt:
      return "Physical Layer 16.0 GT/s";
    default:
      return fmt::format("Extended capability {:04x}", id);
  }
}

}  // namespace

std::string list_capability(const PciImage& image, std::uint32_t offset, bool details) {
  const std::uint8_t id = image.byte(offset);
  const std::string label = fmt::format("\tCapabilities: [{:02x}] ", offset);
  switch (id) {
    case pci::kCapPowerManagement:
      return label + fmt::format("Power Management version {}\n", image.byte(offset + 2) & 7);
    case pci::kCapPciExpress: {
      const std::uint16_t express = image.word(offset + pci::kExpFlags);
      return label +
             fmt::format("PCI Express v{} {}\n", express & 0xF, port_type(express >> 4 & 0xF)) +
             (details ? express_fields(image, offset) : "");
    }
    case pci::kCapMsix: {
      const std::uint16_t control = image.word(offset + pci::kMsixControl);
      return label +
             fmt::format("MSI-X: Enable{} Count={} Masked{}\n", sign(control, 15),
                         (control & pci::kMsixControlSizeMask) + 1, sign(control, 14)) +
             (details ? msix_fields(image, offset) : "");
    }
    default:
      return label + fmt::format("Capability {:02x}\n", id);
  }
}

std::string list_extended_capability(const PciImage& image, std::uint32_t offset, bool details) {
  const std::uint32_t header = image.dword(offset);
  const auto id = static_cast<std::uint16_t>(header);
  std::string text =
      fmt::format("\tCapabilities: [{:x} v{}] {}", offset, header >> 16 & 0xF, extended_name(id));
  if (id == pci::kExtSerialNumber) {
    text += fmt::format(" {:08x}{:08x}", image.dword(offset + 8), image.dword(offset + 4));
  }
  text += "\n";
  if (!details) return text;
  if (id == pci::kExtAer) return text + aer_fields(image, offset);
  if (id == pci::kExtSriov) return text + sriov_fields(image, offset);
  return text;
}

}  // namespace npu::cli
