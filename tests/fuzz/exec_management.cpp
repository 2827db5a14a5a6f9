// SPDX-License-Identifier: Apache-2.0
// exec_management SEED CALLS: a program that calls device management at random: ids at both ends,
// null pointers, rooms that are too small, commands of every number, virtual devices, the computing
// token. Each call must return with a code that there is; one that fails has written nothing, and
// none writes beyond the room that it was told of. Then the device is as useful as before.
#include "tests/fuzz/management_calls.hpp"

#include <acl/acl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace npu::fuzz {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;

bool is_code(int status) {
  switch (status) {
    case DSMI_OK:
    case DSMI_ERROR_NO_DEVICE:
    case DSMI_ERROR_INVALID_DEVICE:
    case DSMI_ERROR_PARAMETER:
    case DSMI_ERROR_NOT_EXIST:
    case DSMI_ERROR_BUSY:
    case DSMI_ERROR_NO_RESOURCES:
    case DSMI_ERROR_TIMEOUT:
    case DSMI_ERROR_NOT_SUPPORT:
    case DCMI_ERR_CODE_INVALID_PARAMETER:
    case DCMI_ERR_CODE_TIME_OUT:
    case DCMI_ERR_CODE_INVALID_DEVICE_ID:
    case DCMI_ERR_CODE_DEVICE_NOT_EXIST:
    case DCMI_ERR_CODE_NOT_SUPPORT:
      return true;
    default:
      return false;
  }
}

// DCMI has no code of its own for what is busy or used up.
bool is_inner(const char* call, int status) {
  return status == DCMI_ERR_CODE_INNER_ERR && (std::strcmp(call, "dcmi_create_vdevice") == 0 ||
                                               std::strcmp(call, "dcmi_set_destroy_vdevice") == 0);
}

// What the interfaces say of memory is the same, and the device computes.
bool is_whole() {
  struct dsmi_computing_token_stru token = {65535, COMPUTING_TOKEN_LAD0TKEN01, 0, 0};
  static_cast<void>(dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, sizeof token));
  std::size_t left = 0, total = 0;
  struct dsmi_hbm_info_stru told = {};
  unsigned char byte = 0;
  void* memory = nullptr;
  return aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) == 0 && dsmi_get_hbm_info(0, &told) == 0 &&
         told.memory_size == total >> 10 && told.memory_usage == (total - left) >> 10 &&
         aclrtMalloc(&memory, kPage, ACL_MEM_MALLOC_HUGE_FIRST) == 0 &&
         aclrtMemset(memory, kPage, 7, kPage) == 0 &&
         aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST) == 0 && byte == 7 &&
         aclrtFree(memory) == 0;
}

int run(std::uint64_t seed, unsigned calls) {
  if (aclInit(nullptr) != 0) return 1;
  // Groups are of a card that no process is open on.
  const bool early = seed % 2 == 1;
  if (early && aclrtSetDevice(0) != 0) return 1;
  Rooms rooms(seed);
  std::map<int, unsigned> codes;
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < calls; ++i) {
    rooms.begin();
    const auto& call = management_calls()[rooms.chance().below(management_calls().size())];
    const int status = call.make(rooms);
    const char* const wrong =
        !is_code(status) && !is_inner(call.name, status) ? "no code" : rooms.check(status == 0);
    if (wrong != nullptr) {
      std::printf("call %u: %s: %d: %s\n", i, call.name, status, wrong);
      return 1;
    }
    ++codes[status];
    hash = hash * 31 + static_cast<unsigned>(status);
  }
  for (const auto& [code, count] : codes) std::printf("%d: %u\n", code, count);
  std::printf("hash %llx\n", static_cast<unsigned long long>(hash));
  if (!early) {
    static_cast<void>(dsmi_destroy_vdevice(0, DSMI_VDEV_ALL));
    for (int id = 1; id < 32; ++id) static_cast<void>(dsmi_delete_capability_group(0, 0, id));
    if (const int set = aclrtSetDevice(0); set != 0) {
      std::printf("aclrtSetDevice: %d\n", set);
      return 1;
    }
  }
  if (!is_whole()) {
    std::puts("the device is not as it was");
    return 1;
  }
  npu_dsmi_detach();
  int count = 0;
  if (!is_code(dsmi_get_device_count(&count)) || aclFinalize() != 0) return 1;
  std::puts("right");
  return 0;
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return npu::fuzz::run(std::strtoull(argv[1], nullptr, 10),
                        static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
}
