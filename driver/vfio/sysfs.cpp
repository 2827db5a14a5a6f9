// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/sysfs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "driver/vfio/file.hpp"

namespace npu::driver::vfio {

namespace fs = std::filesystem;

namespace {

constexpr char kRootBusPrefix[] = "pci0000:";
constexpr char kVfioDriver[] = "vfio-pci";

int hexadecimal(const std::string& text) {
  int value = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return -1;
    value = value * 16 + (digit ? c - '0' : c - 'a' + 10);
  }
  return text.empty() ? -1 : value;
}

}  // namespace

std::vector<platform::HostBridge> Sysfs::host_bridges() const {
  std::vector<platform::HostBridge> bridges;
  std::error_code error;
  for (fs::directory_iterator entry(root_ + "/devices", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind(kRootBusPrefix, 0) != 0) continue;
    const int bus = hexadecimal(name.substr(sizeof kRootBusPrefix - 1));
    if (bus < 0 || bus > 255) continue;
    const auto number = static_cast<std::uint16_t>(bus);
    bridges.push_back({number, 255, numa_node(number)});
  }
  std::sort(bridges.begin(), bridges.end(),
            [](const auto& a, const auto& b) { return a.first_bus < b.first_bus; });
  for (std::size_t i = 0; i + 1 < bridges.size(); ++i) {
    bridges[i].last_bus = static_cast<std::uint16_t>(bridges[i + 1].first_bus - 1);
  }
  return bridges;
}

// All functions of a bus are on one node; the first that exists knows it.
int Sysfs::numa_node(std::uint16_t bus) const {
  for (std::uint8_t number = 0; number < 32; ++number) {
    std::ifstream file(device({bus, number, 0}) + "/numa_node");
    int node = -1;
    if (file >> node) return node;
  }
  return -1;
}

bool Sysfs::exists(platform::Bdf bdf) const {
  std::error_code error;
  return fs::exists(device(bdf), error);
}

Result<std::string> Sysfs::iommu_group(platform::Bdf bdf) const {
  std::error_code error;
  const auto link = fs::read_symlink(device(bdf) + "/iommu_group", error);
  if (!error) return link.filename().string();
  if (!exists(bdf)) return fail(ErrorCode::kNotFound, "no function " + name(bdf));
  return fail(ErrorCode::kUnsupported,
              name(bdf) +
                  " is behind no IOMMU: switch it on (firmware; kernel arguments "
                  "intel_iommu=on or amd_iommu=on)");
}

std::string Sysfs::driver(const std::string& function_name) const {
  std::error_code error;
  const auto link =
      fs::read_symlink(root_ + "/bus/pci/devices/" + function_name + "/driver", error);
  return error ? std::string() : link.filename().string();
}

// linux/vfio.h: a group is viable if each of its functions has a VFIO driver, or none; bridges may
// have pcieport.
std::string Sysfs::what_is_missing(platform::Bdf bdf, const std::string& group) const {
  const auto own = driver(name(bdf));
  if (own != kVfioDriver) {
    return name(bdf) + (own.empty() ? " has no driver" : " is bound to " + own) +
           ", not to vfio-pci: modprobe vfio-pci, " +
           (own.empty() ? "" : "unbind it from " + own + ", ") +
           "write vfio-pci to its driver_override and " + name(bdf) + " to drivers_probe";
  }
  std::string others;
  std::error_code error;
  const std::string members = root_ + "/kernel/iommu_groups/" + group + "/devices";
  for (fs::directory_iterator entry(members, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto member = entry->path().filename().string();
    const auto theirs = driver(member);
    if (theirs.empty() || theirs == kVfioDriver || theirs == "pcieport" || theirs == "pci-stub") {
      continue;
    }
    others += " " + member + " (" + theirs + ")";
  }
  if (others.empty()) return {};
  return "bind these functions of IOMMU group " + group + " to vfio-pci, too:" + others;
}

std::optional<std::uint32_t> Sysfs::read_config(platform::Bdf bdf, std::uint32_t offset,
                                                unsigned width) const {
  const auto file = open_file(device(bdf) + "/config", O_RDONLY);
  if (!file) return std::nullopt;
  std::uint32_t value = 0;
  if (::pread(file->get(), &value, width, static_cast<off_t>(offset)) !=
      static_cast<ssize_t>(width)) {
    return std::nullopt;
  }
  return value;
}

std::array<Bytes, 6> Sysfs::bar_sizes(platform::Bdf bdf) const {
  std::array<Bytes, 6> sizes{};
  std::ifstream file(device(bdf) + "/resource");
  for (auto& size : sizes) {
    std::string begin, end, flags;
    if (!(file >> begin >> end >> flags)) break;
    const auto first = std::strtoull(begin.c_str(), nullptr, 16);
    const auto last = std::strtoull(end.c_str(), nullptr, 16);
    if (last > first) size = last - first + 1;
  }
  return sizes;
}

}  // namespace npu::driver::vfio
