// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/sysfs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "driver/vfio/file.hpp"

namespace npu::driver::vfio {

namespace fs = std::filesystem;

namespace {

constexpr char kRootBusPrefix[] = "pci0000:";

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
    const auto number = static_cast<std::uint8_t>(bus);
    bridges.push_back({number, 255, numa_node(number)});
  }
  std::sort(bridges.begin(), bridges.end(),
            [](const auto& a, const auto& b) { return a.first_bus < b.first_bus; });
  for (std::size_t i = 0; i + 1 < bridges.size(); ++i) {
    bridges[i].last_bus = static_cast<std::uint8_t>(bridges[i + 1].first_bus - 1);
  }
  return bridges;
}

// All functions of a bus are on one node; the first that exists knows it.
int Sysfs::numa_node(std::uint8_t bus) const {
  for (std::uint8_t number = 0; number < 32; ++number) {
    std::ifstream file(device({bus, number, 0}) + "/numa_node");
    int node = -1;
    if (file >> node) return node;
  }
  return -1;
}

Result<std::string> Sysfs::iommu_group(platform::Bdf bdf) const {
  std::error_code error;
  const auto link = fs::read_symlink(device(bdf) + "/iommu_group", error);
  if (error) {
    return fail(ErrorCode::kNotFound, "no IOMMU group for " + name(bdf) + ": " + error.message());
  }
  return link.filename().string();
}

std::uint32_t Sysfs::read_config(platform::Bdf bdf, std::uint32_t offset, unsigned width) const {
  std::uint32_t value = 0xFFFFFFFF >> (32 - 8 * width);
  const auto file = File::open(device(bdf) + "/config", O_RDONLY);
  if (!file) return value;
  std::uint32_t read = 0;
  if (::pread(file->get(), &read, width, static_cast<off_t>(offset)) ==
      static_cast<ssize_t>(width)) {
    value = read;
  }
  return value;
}

}  // namespace npu::driver::vfio
