// SPDX-License-Identifier: Apache-2.0
// The machine's PCI functions as a file system: what Linux shows in /sys/bus/pci, as far as
// pciutils look at it. Reading and writing a function's `config` are configuration accesses of the
// modelled host, and virtual functions come and go as software enables them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/pcie/firmware.hpp"
#include "npu/platform/pci.hpp"

struct fuse;
struct stat;
struct fuse_file_info;

namespace npu::cli {

class SysfsMount {
 public:
  // `functions` says what there is at the time of the call. For as long as the mount lives.
  SysfsMount(platform::PciAccess& access,
             std::function<std::vector<model::FoundFunction>()> functions);
  ~SysfsMount();
  SysfsMount(const SysfsMount&) = delete;
  SysfsMount& operator=(const SysfsMount&) = delete;

  // On an existing, empty folder. kNotFound: there is none; kUnsupported: this system does not let
  // us.
  Status mount(const std::string& folder);
  // Answers the kernel's requests, from a host task, until the folder is unmounted or `wake` (a
  // file descriptor) is readable.
  void run(int wake);

  // What the kernel asks, by path from the root of the mount. 0 or more, or a negative errno.
  int attributes(const std::string& path, struct stat& found);
  int list(const std::string& path, std::vector<std::string>& names);
  int read(const std::string& path, char* data, std::size_t size, std::uint64_t offset);
  int write(const std::string& path, const char* data, std::size_t size, std::uint64_t offset);

 private:
  struct Place {
    bool exists = false;
    bool is_folder = false;
    const model::FoundFunction* function = nullptr;
    std::string file;  // in the function's folder
  };
  Place find(const std::string& path);
  std::string text_of(const model::FoundFunction& function, const std::string& file);

  platform::PciAccess& access_;
  std::function<std::vector<model::FoundFunction>()> list_functions_;
  std::vector<model::FoundFunction> functions_;
  ::fuse* fuse_ = nullptr;
  bool mounted_ = false;
};

}  // namespace npu::cli
