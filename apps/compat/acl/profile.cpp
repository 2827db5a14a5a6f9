// SPDX-License-Identifier: Apache-2.0
// Times of kernels and marks of the program, into files (acl/acl_prof.h).
#include "apps/compat/acl/profile.hpp"

#include <acl/acl_prof.h>
#include <runtime/npusim_rt.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "apps/compat/acl/direct.hpp"

struct aclprofConfig {
  std::vector<uint32_t> devices;
  uint64_t what = 0;
};

namespace npu::compat {
namespace {

constexpr uint64_t kKernels = ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0;

struct Profile {
  std::mutex lock;
  std::string path;
  bool started = false;
  uint64_t what = 0;
  std::vector<ProfileMark> marks;
};
Profile& profile() {
  static auto* const kProfile = new Profile;
  return *kProfile;
}

std::string csv(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string microseconds(uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03llu",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned long long>(nanoseconds % 1000));
  return text;
}

// Kernel, device and stream, begin and end of a line that npusim has given.
using Fields = std::vector<std::string>;
Fields fields_of(const std::string& line) {
  Fields all(5);
  std::size_t end = line.size();
  for (std::size_t i = all.size(); i-- > 1;) {  // a name may have commas
    const auto comma = line.rfind(',', end - 1);
    all[i] = line.substr(comma + 1, end - comma - 1);
    end = comma;
  }
  all[0] = line.substr(0, end);
  return all;
}

// The program's number of a machine's device.
std::string user_device(const std::string& machine) {
  for (int32_t user = 0;; ++user) {
    const auto found = npusimRtMachineDevice(user);
    if (found < 0) return machine;
    if (std::to_string(found) == machine) return std::to_string(user);
  }
}

// By device: the file's text.
aclError take_kernels(std::map<std::string, std::string>* files) {
  for (;;) {
    uint64_t bytes = 0;
    const aclError status = ask_for<Call::kProfileTake>(&bytes);
    if (status != ACL_SUCCESS || bytes == 0) return status;
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(channel_of_this_thread()->window()), bytes));
    for (std::string line; std::getline(lines, line);) {
      const auto all = fields_of(line);
      const auto begin = std::strtoull(all[3].c_str(), nullptr, 10);
      const auto end = std::strtoull(all[4].c_str(), nullptr, 10);
      auto& file = (*files)[user_device(all[1])];
      file += csv(all[0]) + "," + all[2] + "," + microseconds(begin) + "," + microseconds(end) +
              "," + microseconds(end - begin) + "\n";
    }
  }
}

aclError write(const std::filesystem::path& folder, const char* name, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream file(folder / name, std::ios::binary);
  file << text;
  file.close();
  return error || !file ? ACL_ERROR_WRITE_FILE : ACL_SUCCESS;
}

// The first number that no earlier run has left.
std::filesystem::path next_folder(const std::string& path) {
  for (unsigned number = 1;; ++number) {
    char name[32];
    std::snprintf(name, sizeof name, "PROF_%06u", number);
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::path(path) / name, error)) {
      return std::filesystem::path(path) / name;
    }
  }
}

aclError write_all(const std::string& path, const aclprofConfig& config,
                   const std::vector<ProfileMark>& marks) {
  std::map<std::string, std::string> kernels;
  aclError status = take_kernels(&kernels);
  if (status != ACL_SUCCESS) return status;
  const auto folder = next_folder(path);
  if ((config.what & kKernels) != 0) {
    for (const auto device : config.devices) kernels[std::to_string(device)];  // also empty ones
  }
  for (const auto& [device, text] : kernels) {
    status = write(folder / ("device_" + device), "task_time.csv",
                   "kernel,stream,start(us),stop(us),duration(us)\n" + text);
    if (status != ACL_SUCCESS) return status;
  }
  if ((config.what & ACL_PROF_MSPROFTX) == 0) return ACL_SUCCESS;
  std::string text = "kind,domain,message,start(us),end(us)\n";
  for (const auto& each : marks) {
    text += std::string(each.kind) + "," + csv(each.domain) + "," + csv(each.text) + "," +
            microseconds(each.begin) + "," + microseconds(each.end) + "\n";
  }
  return write(folder / "host", "msprof_tx.csv", text);
}

aclError use_path(const char* path, size_t length) {
  if (path == nullptr || length == 0 || length >= PATH_MAX) return ACL_ERROR_INVALID_PARAM;
  const std::string folder(path, ::strnlen(path, length));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ACL_ERROR_WRITE_FILE;
  profile().path = folder;
  return ACL_SUCCESS;
}

}  // namespace

bool takes_marks() {
  const std::lock_guard<std::mutex> held(profile().lock);
  return profile().started && (profile().what & ACL_PROF_MSPROFTX) != 0;
}

void add_mark(ProfileMark mark) {
  const std::lock_guard<std::mutex> held(profile().lock);
  if (profile().started) profile().marks.push_back(std::move(mark));
}

uint64_t host_nanoseconds() {
  uint64_t picoseconds = 0;
  static_cast<void>(ask_for<Call::kManageTime>(&picoseconds));
  return picoseconds / 1000;
}

}  // namespace npu::compat

using npu::compat::ask;
using npu::compat::Call;
using npu::compat::profile;

namespace {
constexpr uint32_t kMostDevices = 1024;  // more than a machine has: the count is none
}  // namespace

extern "C" {

aclError aclprofInit(const char* path, size_t length) {
  const std::lock_guard<std::mutex> held(profile().lock);
  if (!profile().path.empty()) return ACL_ERROR_PROF_ALREADY_RUN;
  return npu::compat::use_path(path, length);
}

aclError aclprofFinalize(void) {
  const std::lock_guard<std::mutex> held(profile().lock);
  if (profile().path.empty()) return ACL_ERROR_PROF_NOT_RUN;
  profile().path.clear();
  profile().started = false;
  profile().marks.clear();
  return ask<Call::kProfileStart>({0});
}

aclprofConfig* aclprofCreateConfig(uint32_t* devices, uint32_t count, aclprofAicoreMetrics metrics,
                                   const aclprofAicoreEvents* events, uint64_t what) {
  static_cast<void>(metrics);
  if (devices == nullptr || count == 0 || count > kMostDevices || events != nullptr) return nullptr;
  return new (std::nothrow) aclprofConfig{{devices, devices + count}, what};
}

aclError aclprofDestroyConfig(const aclprofConfig* config) {
  if (config == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete config;
  return ACL_SUCCESS;
}

aclError aclprofSetConfig(aclprofConfigType type, const char* value, size_t length) {
  if (type <= ACL_PROF_ARGS_MIN || type >= ACL_PROF_ARGS_MAX || value == nullptr || length == 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const std::lock_guard<std::mutex> held(profile().lock);
  return type == ACL_PROF_PATH ? npu::compat::use_path(value, length) : ACL_SUCCESS;
}

aclError aclprofStart(const aclprofConfig* config) {
  if (config == nullptr) return ACL_ERROR_INVALID_PARAM;
  uint64_t devices = 0;
  for (const auto device : config->devices) {
    const auto machine = npusimRtMachineDevice(static_cast<int32_t>(device));
    if (machine < 0 || machine >= 64) return ACL_ERROR_RT_INVALID_DEVICEID;
    devices |= uint64_t{1} << static_cast<unsigned>(machine);
  }
  const std::lock_guard<std::mutex> held(profile().lock);
  if (profile().path.empty()) return ACL_ERROR_PROF_NOT_RUN;
  if (profile().started) return ACL_ERROR_PROF_ALREADY_RUN;
  const bool kernels = (config->what & npu::compat::kKernels) != 0;
  const aclError status = ask<Call::kProfileStart>({kernels ? devices : 0});
  if (status != ACL_SUCCESS) return status;
  profile().started = true;
  profile().what = config->what;
  profile().marks.clear();
  return ACL_SUCCESS;
}

aclError aclprofStop(const aclprofConfig* config) {
  if (config == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(profile().lock);
  if (!profile().started) return ACL_ERROR_PROF_NOT_RUN;
  profile().started = false;
  return npu::compat::write_all(profile().path, *config, profile().marks);
}

}  // extern "C"
