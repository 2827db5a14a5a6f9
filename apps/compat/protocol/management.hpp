// SPDX-License-Identifier: Apache-2.0
// What programs ask of cards for management (Call::kManage...). Cards are named by the machine's
// number. A call that fails does so with kManagementError and the driver's error behind it.
#pragma once

#include <cstdint>

namespace npu::compat {

inline constexpr int kManagementError = 0x100000;  // + npu::ErrorCode; ACL's are below
inline constexpr int kManagementInvalid = kManagementError;
inline constexpr int kManagementNotFound = kManagementError + 3;
inline constexpr int kManagementUnsupported = kManagementError + 12;

// Answers of kManageProcesses, in the window; the answer is their number.
struct ManagedProcess {
  std::uint64_t process = 0;  // as the program's kernel numbers it
  std::uint64_t pasid = 0;
  std::uint64_t memory = 0;  // bytes
};
inline constexpr std::uint64_t kMostManagedProcesses = 1024;

// List: driver::ComputeGroup each, in the window; the answer is their number. Create: the clusters'
// mask, and then the group, in the window.
enum class GroupRequest : std::uint64_t { kList, kCreate, kRemove };

// The structure of dsmi_common_interface.h, in the window; the answer is a code of
// dsmi_error_code.h.
// Activity: a number, percent. The switch: a number, 0 or 1.
enum class VirtualRequest : std::uint64_t {
  kCreate,
  kDestroy,
  kQuery,
  kTotal,
  kFree,
  kActivity,
  kSwitch,
  kSetSwitch,
};

namespace wire {

struct CardRegister {
  std::int64_t card = 0;
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t value = 0;  // that is written
};
struct CardMemory {
  std::uint64_t total = 0, used = 0;  // bytes
};
struct CardQuota {
  std::uint64_t limit = 0, allocated = 0, managed = 0, most = 0, refused = 0;
};
struct CardToken {
  std::int64_t card = 0;
  std::uint64_t sets = 0, token = 0;
};
struct CardGroups {
  std::int64_t card = 0;
  GroupRequest request = GroupRequest::kList;
  std::uint64_t id = 0;        // create: + 1, or 0: any
  std::uint64_t clusters = 0;  // create: how many
};
struct VirtualDevices {
  std::int64_t device = 0;
  VirtualRequest request = VirtualRequest::kTotal;
  std::uint64_t virtual_device = 0;  // or what the request takes for one
};
struct AgentUse {
  std::int64_t device = 0;
  std::uint64_t begins = 0;
};

}  // namespace wire
}  // namespace npu::compat
