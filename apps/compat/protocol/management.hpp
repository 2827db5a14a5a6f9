// SPDX-License-Identifier: Apache-2.0
// What programs ask of cards for management (Call::kManage...). Word 0 of each names the card, by
// the machine's number. A call that fails does so with kManagementError and the driver's error
// behind it.
#pragma once

#include <cstdint>

namespace npu::compat {

inline constexpr int kManagementError = 0x100000;  // + npu::ErrorCode; ACL's are below
inline constexpr int kManagementInvalid = kManagementError;
inline constexpr int kManagementNotFound = kManagementError + 3;
inline constexpr int kManagementUnsupported = kManagementError + 12;

// Answers of kManageProcesses, in the window; word 0 is their number.
struct ManagedProcess {
  std::uint64_t process = 0;  // as the program's kernel numbers it
  std::uint64_t pasid = 0;
  std::uint64_t memory = 0;  // bytes
};
inline constexpr std::uint64_t kMostManagedProcesses = 1024;

// Word 1 of kManageGroups. List: driver::ComputeGroup each, in the window; word 0 is their number.
// Create: words 2 and 3 are the id + 1, or 0, and the number of clusters; their mask, and then the
// group, in the window. Remove: word 2 is the id.
enum class GroupRequest : std::uint64_t { kList, kCreate, kRemove };

// Word 1 of kManageVirtual; word 2 is a virtual device, or what the request takes for one. The
// structure of dsmi_common_interface.h, in the window; the answer's word 0 is a code of
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

}  // namespace npu::compat
