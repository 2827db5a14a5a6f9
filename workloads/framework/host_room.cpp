// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/host_room.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "workloads/framework/reporting.hpp"

namespace npu::workloads {
namespace {

// The number behind `key` in a file of such lines; of the file's only word without a key.
std::optional<Bytes> number_in(const std::string& path, const std::string& key = {}) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    if (!key.empty() && (!(words >> word) || word != key)) continue;
    Bytes value = 0;
    if (words >> value) return value;
  }
  return {};
}

Bytes less(Bytes limit, Bytes used) {
  return limit > used ? limit - used : 0;
}

class Least {
 public:
  void add(Bytes bytes, const std::string& bound) {
    if (bytes < least_.bytes) least_ = {bytes, bound};
  }
  const HostRoom& room() const { return least_; }

 private:
  HostRoom least_{UINT64_MAX, "nothing"};
};

void add_limit(Least& least, decltype(RLIMIT_AS) which, const std::string& root,
               const char* used_key, const char* name) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const auto used = number_in(root + "/proc/self/status", used_key);
  least.add(less(limit.rlim_cur, used.value_or(0) << 10), name);
}

// Of a group and those it lies in; what files in memory take is given back when needed.
void add_groups(Least& least, const std::string& root, std::string path, bool second_version) {
  const char* const limit_file = second_version ? "/memory.max" : "/memory.limit_in_bytes";
  const char* const used_file = second_version ? "/memory.current" : "/memory.usage_in_bytes";
  const char* const cache_key = second_version ? "inactive_file" : "total_inactive_file";
  while (true) {
    const std::string folder = root + path;
    const auto limit = number_in(folder + limit_file);
    const auto used = number_in(folder + used_file);
    if (limit && used) {
      const Bytes cache = number_in(folder + "/memory.stat", cache_key).value_or(0);
      least.add(less(*limit, less(*used, cache)), "the control group's memory limit");
    }
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
  }
}

void add_control_groups(Least& least, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") add_groups(least, root + "/sys/fs/cgroup", path, true);
    if (controllers.find(",memory,") != std::string::npos) {
      add_groups(least, root + "/sys/fs/cgroup/memory", path, false);
    }
  }
}

std::string gigabytes(Bytes bytes) {
  return Number::quotient(bytes, 1'000'000'000, 1).text() + " GB";
}

}  // namespace

HostRoom host_room(const std::string& root) {
  Least least;
  if (const auto free = number_in(root + "/proc/meminfo", "MemAvailable:")) {
    least.add(*free << 10, "MemAvailable");
  }
  add_limit(least, RLIMIT_AS, root, "VmSize:", "ulimit -v");
  add_limit(least, RLIMIT_DATA, root, "VmData:", "ulimit -d");
  add_control_groups(least, root);
  return least.room();
}

Status require_host_memory(const std::string& what, Bytes needed) {
  // What every run takes beside its data: the last pieces of address space, stacks, tables.
  constexpr Bytes kBeside = 64_MiB;
  const HostRoom room = host_room();
  if (needed == 0 || needed + kBeside <= room.bytes) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} needs {} of this machine's memory, it gives {} ({})", what,
                          gigabytes(needed + kBeside), gigabytes(room.bytes), room.bound));
}

}  // namespace npu::workloads
