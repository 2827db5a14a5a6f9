// SPDX-License-Identifier: Apache-2.0
#define FUSE_USE_VERSION 31
#include "tools/cli/sysfs_mount.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fuse.h>
#include <fuse_log.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "model/host/natural_width.hpp"
#include "model/pcie/config_dump.hpp"
#include "npu/abi/pci.hpp"

namespace npu::cli {

namespace pci = abi::pci;

namespace {

constexpr const char* kDevices = "/devices";

SysfsMount& self() {
  return *static_cast<SysfsMount*>(fuse_get_context()->private_data);
}

int on_getattr(const char* path, struct stat* found, fuse_file_info*) {
  return self().attributes(path, *found);
}

int on_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
               fuse_readdir_flags) {
  std::vector<std::string> names;
  if (const int error = self().list(path, names); error != 0) return error;
  for (const auto& name : names) fill(buffer, name.c_str(), nullptr, 0, fuse_fill_dir_flags(0));
  return 0;
}

int on_read(const char* path, char* data, std::size_t size, off_t offset, fuse_file_info*) {
  return self().read(path, data, size, static_cast<std::uint64_t>(offset));
}

int on_write(const char* path, const char* data, std::size_t size, off_t offset, fuse_file_info*) {
  return self().write(path, data, size, static_cast<std::uint64_t>(offset));
}

// Every read is to reach the function, so the kernel keeps nothing.
int on_open(const char*, fuse_file_info* file) {
  file->direct_io = 1;
  return 0;
}

fuse_operations operations() {
  fuse_operations table{};
  table.getattr = on_getattr;
  table.readdir = on_readdir;
  table.open = on_open;
  table.read = on_read;
  table.write = on_write;
  return table;
}

}  // namespace

SysfsMount::SysfsMount(platform::PciAccess& access,
                       std::function<std::vector<model::FoundFunction>()> functions)
    : access_(access), list_functions_(std::move(functions)) {}

SysfsMount::~SysfsMount() {
  if (mounted_) fuse_unmount(fuse_);
  if (fuse_ != nullptr) fuse_destroy(fuse_);
}

Status SysfsMount::mount(const std::string& folder) {
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code)) {
    return fail(ErrorCode::kNotFound, "no such folder");
  }
  fuse_set_log_func([](fuse_log_level, const char*, va_list) {});  // errors are ours to print
  static const fuse_operations kOperations = operations();
  std::array<char*, 4> words{};
  std::array<std::string, 3> texts{"npusim", "-o", "fsname=npusim,subtype=npusim"};
  for (std::size_t i = 0; i < texts.size(); ++i) words[i] = texts[i].data();
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(texts.size()), words.data());
  fuse_ = fuse_new(&arguments, &kOperations, sizeof kOperations, this);
  fuse_opt_free_args(&arguments);
  if (fuse_ == nullptr || fuse_mount(fuse_, folder.c_str()) != 0) {
    return fail(ErrorCode::kUnsupported, "this system does not let us mount with FUSE");
  }
  mounted_ = true;
  return {};
}

void SysfsMount::run(int wake) {
  auto* const session = fuse_get_session(fuse_);
  ::fcntl(fuse_session_fd(session), F_SETFL, O_NONBLOCK);  // a request may be taken back
  fuse_buf request{};
  while (fuse_session_exited(session) == 0) {
    std::array<pollfd, 2> waited{{{fuse_session_fd(session), POLLIN, 0}, {wake, POLLIN, 0}}};
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) break;
    if (waited[1].revents != 0) break;
    if (waited[0].revents == 0) continue;
    const int length = fuse_session_receive_buf(session, &request);
    if (length == -EINTR || length == -EAGAIN) continue;
    if (length <= 0) break;
    fuse_session_process_buf(session, &request);
  }
  std::free(request.mem);
}

SysfsMount::Place SysfsMount::find(const std::string& path) {
  static const std::array<const char*, 7> kFiles{"config", "resource", "vendor",   "device",
                                                 "class",  "irq",      "numa_node"};
  Place place;
  place.is_folder = true;
  place.exists = path == "/" || path == kDevices;
  const std::string prefix = std::string(kDevices) + "/";
  if (place.exists || path.rfind(prefix, 0) != 0) return place;
  functions_ = list_functions_();
  const std::string rest = path.substr(prefix.size());
  const auto slash = rest.find('/');
  for (const auto& function : functions_) {
    if (rest.substr(0, slash) != "0000:" + to_string(function.bdf)) continue;
    place.function = &function;
    place.exists = true;
  }
  if (slash == std::string::npos || !place.exists) return place;
  place.is_folder = false;
  place.file = rest.substr(slash + 1);
  place.exists = std::find(kFiles.begin(), kFiles.end(), place.file) != kFiles.end();
  return place;
}

std::string SysfsMount::text_of(const model::FoundFunction& function, const std::string& file) {
  const auto reader = [this](platform::Bdf bdf, std::uint32_t offset) {
    return access_.read32(bdf, offset);
  };
  for (const auto& [name, text] : model::sysfs_files(function, reader)) {
    if (name == file) return text;
  }
  return {};
}

int SysfsMount::attributes(const std::string& path, struct stat& found) {
  found = {};
  const Place place = find(path);
  if (!place.exists) return -ENOENT;
  found.st_nlink = place.is_folder ? 2 : 1;
  found.st_mode = place.is_folder ? S_IFDIR | 0555 : S_IFREG | 0444;
  if (place.file == "config") {
    found.st_mode = S_IFREG | 0644;
    found.st_size = pci::kConfigSpaceSize;
  } else if (!place.is_folder) {
    found.st_size = static_cast<off_t>(text_of(*place.function, place.file).size());
  }
  return 0;
}

int SysfsMount::list(const std::string& path, std::vector<std::string>& names) {
  const Place place = find(path);
  if (!place.exists) return -ENOENT;
  if (!place.is_folder) return -ENOTDIR;
  if (path == "/") {
    names = {"devices"};
  } else if (place.function != nullptr) {
    names = {"config", "resource", "vendor", "device", "class", "irq", "numa_node"};
  } else {
    for (const auto& function : list_functions_()) {
      names.push_back("0000:" + to_string(function.bdf));
    }
  }
  return 0;
}

int SysfsMount::read(const std::string& path, char* data, std::size_t size, std::uint64_t offset) {
  const Place place = find(path);
  if (!place.exists || place.is_folder) return -ENOENT;
  if (place.file != "config") {
    const std::string text = text_of(*place.function, place.file);
    if (offset >= text.size()) return 0;
    return static_cast<int>(text.copy(data, size, offset));
  }
  if (offset >= pci::kConfigSpaceSize) return 0;
  size = std::min<std::size_t>(size, pci::kConfigSpaceSize - offset);
  for (std::size_t done = 0; done < size;) {
    const unsigned width = model::natural_width(offset + done, size - done, 4);
    const std::uint32_t value =
        access_.read(place.function->bdf, static_cast<std::uint32_t>(offset + done), width);
    std::memcpy(data + done, &value, width);
    done += width;
  }
  return static_cast<int>(size);
}

int SysfsMount::write(const std::string& path, const char* data, std::size_t size,
                      std::uint64_t offset) {
  const Place place = find(path);
  if (!place.exists || place.is_folder) return -ENOENT;
  if (place.file != "config") return -EACCES;
  if (offset >= pci::kConfigSpaceSize || size > pci::kConfigSpaceSize - offset) return -EFBIG;
  for (std::size_t done = 0; done < size;) {
    const unsigned width = model::natural_width(offset + done, size - done, 4);
    std::uint32_t value = 0;
    std::memcpy(&value, data + done, width);
    access_.write(place.function->bdf, static_cast<std::uint32_t>(offset + done), width, value);
    done += width;
  }
  return static_cast<int>(size);
}

}  // namespace npu::cli
