// SPDX-License-Identifier: Apache-2.0
// The directions between the parts of the tree (house rules; cmake/NpuTargets.cmake says the same
// for targets).
#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/architecture/rules.hpp"

namespace npu::architecture {
namespace {

using Names = std::vector<std::string_view>;

struct Area {
  std::string_view prefix;  // of the path; the longest that fits counts
  Names may_include;        // areas beside its own
  bool systemc;
};

const Names kContracts{"include/npu/base", "include/npu/abi", "include/npu/platform"};

Names contracts_and(Names more) {
  more.insert(more.end(), kContracts.begin(), kContracts.end());
  return more;
}

const Names kDriver = contracts_and({"include/npu/driver"});
const std::vector<Area> kAreas{
    {"include/npu/base/", {}, false},
    {"include/npu/abi/", {"include/npu/base"}, false},
    {"include/npu/platform/", {"include/npu/base", "include/npu/abi"}, false},
    {"include/npu/driver/", kContracts, false},
    {"include/dsmi/", {}, false},
    {"include/npu/dsmi/", contracts_and({"include/npu/driver", "include/dsmi"}), false},
    {"apps/dsmi/", contracts_and({"include/npu/driver", "include/npu/dsmi", "include/dsmi"}),
     false},
    {"apps/dsmi/program/",
     contracts_and({"include/npu/driver", "include/npu/dsmi", "include/dsmi", "apps/dsmi",
                    "apps/compat", "apps/compat/protocol"}),
     false},
    {"include/npu/aicore/", kContracts, false},
    {"include/npu/operators/", kContracts, false},
    {"include/npu/ascendc/", contracts_and({"include/npu/aicore"}), false},
    {"kernels/ascendc/",
     {"include/npu/base", "include/npu/abi", "include/npu/jit", "kernels/operators"},
     false},
    {"kernels/operators/",
     contracts_and(
         {"include/npu/driver", "include/npu/jit", "include/npu/operators", "model/config"}),
     false},
    {"kernels/device/", contracts_and({"include/npu/aicore", "include/npu/operators"}), false},
    {"include/npu/sim/", kContracts, false},
    {"include/npu/testing/", kContracts, false},
    {"include/npu/jit/", {"include/npu/base"}, false},
    {"driver/", kDriver, false},
    {"driver/vfio/", kDriver, false},
    {"kernels/jit/", {"include/npu/base", "include/npu/jit"}, false},
    {"kernels/counting/", {}, false},
    {"firmware/", kContracts, false},
    {"model/", contracts_and({"model/config", "model/host/vfio_user"}), true},
    {"model/config/", kContracts, false},
    {"model/host/vfio_user/", {"include/npu/base"}, false},
    {"apps/compat/protocol/", {}, false},
    {"apps/compat/", {"apps/compat/protocol", "include/npu/base"}, false},
    {"apps/exec/",
     contracts_and({"include/npu/driver", "include/npu/aicore", "include/npu/dsmi", "include/dsmi",
                    "include/npu/jit", "include/npu/operators", "apps/dsmi", "apps/compat/protocol",
                    "kernels/device", "kernels/operators", "machine/races"}),
     false},
    {"machine/",
     contracts_and({"include/npu/sim", "include/npu/testing", "model", "model/config",
                    "tools/reports", "tools/timeline", "workloads/simulator", "machine/races"}),
     false},
    {"machine/gdb/", contracts_and({"model"}), false},
    {"machine/races/", kContracts, false},
    {"machine/testing/main/", {}, false},
    {"examples/", contracts_and({"include/npu/driver", "include/npu/testing"}), false},
    {"examples/operators/",
     contracts_and({"include/npu/aicore", "include/npu/operators", "kernels/device"}), false},
    {"examples/scene-tests/", contracts_and({"include/npu/driver", "include/npu/aicore"}), false},
    {"tests/regression/",
     contracts_and(
         {"include/npu/driver", "include/npu/testing", "kernels/device", "tests/support"}),
     false},
    {"workloads/replay/", {"include/npu/base", "model", "model/config"}, true},
    {"tools/reports/", {"include/npu/base", "include/npu/platform"}, false},
    {"tools/timeline/", kContracts, false},
    {"workloads/",
     contracts_and({"include/npu/aicore", "include/npu/driver", "include/npu/jit",
                    "include/npu/testing", "kernels/operators", "model/config", "workloads/network",
                    "workloads/replay", "tools/reports", "tools/timeline", "kernels/device",
                    "workloads/simulator"}),
     true},
    {"workloads/network/",
     contracts_and({"include/npu/driver", "include/npu/jit", "kernels/operators", "workloads"}),
     false},
    {"workloads/simulator/",
     contracts_and({"include/npu/testing", "model", "model/config", "tools/reports",
                    "tools/timeline", "workloads"}),
     false},
    {"tools/cli/",
     contracts_and({"apps/compat/protocol", "apps/dsmi", "apps/exec", "include/dsmi",
                    "include/npu/driver", "include/npu/dsmi", "kernels/ascendc",
                    "kernels/operators", "machine", "machine/gdb", "machine/races", "model",
                    "model/config", "model/host/vfio_user", "tools/reports", "tools/timeline",
                    "workloads", "workloads/simulator"}),
     true},
    {"apps/python/",
     contracts_and({"include/npu/driver", "include/npu/sim", "include/npu/jit",
                    "include/npu/operators", "kernels/operators", "workloads/network"}),
     false},
    {"apps/demo/", contracts_and({"include/npu/driver", "include/npu/sim", "workloads"}), false},
    {"docs/guide/", contracts_and({"include/npu/driver", "include/npu/sim", "include/npu/aicore"}),
     false},
    {"tests/performance/",
     contracts_and({"apps/exec", "include/npu/driver", "machine", "model", "model/config",
                    "tests/bench", "tests/support", "tools/timeline", "workloads",
                    "workloads/simulator"}),
     true},
    {"tests/performance/jit", {"include/npu/base", "include/npu/jit", "tests/support"}, false},
    {"tests/support/", kContracts, false},
    {"tests/",
     contracts_and({"apps/compat",
                    "apps/compat/protocol",
                    "apps/dsmi",
                    "apps/exec",
                    "driver",
                    "driver/vfio",
                    "include/dsmi",
                    "include/npu/aicore",
                    "include/npu/driver",
                    "include/npu/dsmi",
                    "include/npu/testing",
                    "kernels/operators",
                    "machine",
                    "machine/gdb",
                    "machine/races",
                    "model",
                    "model/config",
                    "model/host/vfio_user",
                    "tests/bench",
                    "tests/support",
                    "workloads/replay",
                    "tools/cli",
                    "tools/reports",
                    "tools/timeline",
                    "workloads",
                    "workloads/network",
                    "kernels/device"}),
     true},
    {"tests/system/",
     contracts_and({"apps/demo", "apps/dsmi", "include/dsmi", "include/npu/aicore",
                    "include/npu/driver", "include/npu/dsmi", "include/npu/operators",
                    "include/npu/testing", "machine", "model", "model/config", "tests/bench",
                    "tests/support", "tools/cli", "tools/reports", "workloads", "kernels/device",
                    "workloads/simulator"}),
     true},
    {"tests/abi/", contracts_and({}), false},
    {"tests/driver/", contracts_and({"include/npu/driver", "driver", "tests/support"}), false},
    {"tests/bench/",
     contracts_and({"model", "model/config", "model/host/vfio_user", "tests/support"}), true},
    {"tests/unit/counting/", {"kernels/counting"}, false},
    {"tests/unit/ascendc/", {"include/npu/base", "include/npu/abi", "kernels/ascendc"}, false},
    {"tests/unit/jit/",
     {"include/npu/base", "include/npu/jit", "kernels/jit", "tests/support"},
     false},
    {"tests/unit/tensors/", contracts_and({"firmware"}), false},
    {"tests/unit/firmware/", contracts_and({"firmware", "tests/support"}), false},
    {"tests/architecture/", {"tests/support"}, false},
    {"tests/package/ascendc/", {"include/npu/ascendc"}, false},
    {"tests/package/", contracts_and({"include/npu/driver", "include/npu/sim"}), false},
};

const Area* find_area(std::string_view path) {
  const Area* found = nullptr;
  for (const auto& area : kAreas) {
    const bool fits = path.substr(0, area.prefix.size()) == area.prefix;
    if (fits && (found == nullptr || area.prefix.size() > found->prefix.size())) found = &area;
  }
  return found;
}

// Who may have the driver and the model in one file.
bool may_join_driver_and_model(std::string_view area) {
  static const Names kJoining{"tools/cli",    "tests/performance", "apps/python",
                              "tests/system", "tests/package",     "docs/guide",
                              "examples",     "tests/regression"};
  return std::find(kJoining.begin(), kJoining.end(), area) != kJoining.end();
}

bool is_driver(std::string_view area) {
  return area == "driver" || area == "driver/vfio" || area == "include/npu/driver";
}

bool is_model(std::string_view area) {
  return area == "model" || area == "include/npu/sim" || area == "include/npu/testing";
}

// The file of the tree that `name` means in a file at `path`; empty if there is none.
std::string resolve(const std::string& name, const std::string& path, const Tree& tree) {
  const std::string beside = path.substr(0, path.rfind('/') + 1) + name;
  // Kernels in AscendC are compiled with a folder of their own to look in.
  for (const auto& candidate : {beside, "include/" + name, name, "include/npu/ascendc/" + name}) {
    if (tree.count(candidate) != 0) return candidate;
  }
  return {};
}

bool is_systemc_header(const std::string& name) {
  return name == "systemc" || name == "systemc.h" || name == "tlm" || name == "tlm.h" ||
         name.rfind("sysc/", 0) == 0 || name.rfind("tlm_", 0) == 0;
}

}  // namespace

std::string area_of(std::string_view path) {
  const Area* area = find_area(path);
  if (area == nullptr) return {};
  std::string name(area->prefix);
  while (!name.empty() && name.back() == '/') name.pop_back();
  return name;
}

Violations check_includes(const SourceFile& file, const Tree& tree) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  const Area* area = find_area(file.path);
  if (area == nullptr) return {{file.path, 0, "belongs to no area of the table of directions"}};
  const std::string own = area_of(file.path);
  Violations violations;
  bool sees_driver = is_driver(own);
  bool sees_model = is_model(own);
  std::istringstream lines(file.text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    const std::string name = match[2];
    const std::string target = resolve(name, file.path, tree);
    if (is_systemc_header(name) && !area->systemc) {
      violations.push_back({file.path, number, own + " may not see SystemC"});
    }
    if (target.empty()) {
      if (match[1] == "\"") {
        violations.push_back({file.path, number, "\"" + name + "\" is no file of the tree"});
      }
      continue;
    }
    const std::string other = area_of(target);
    const auto& allowed = area->may_include;
    if (other != own && std::find(allowed.begin(), allowed.end(), other) == allowed.end()) {
      violations.push_back({file.path, number, own + " may not include " + other});
    }
    sees_driver = sees_driver || is_driver(other);
    sees_model = sees_model || is_model(other);
    if (sees_driver && sees_model && !may_join_driver_and_model(own)) {
      violations.push_back({file.path, number, own + " may not join driver and model"});
    }
  }
  return violations;
}

}  // namespace npu::architecture
