// SPDX-License-Identifier: Apache-2.0
// Which device is which; what cards cannot do with other memory than their own.
#include <runtime/dev.h>
#include <runtime/npusim_rt.h>

#include <cstdio>
#include <cstring>

#include "apps/compat/acl/direct.hpp"

using npu::compat::ask_for;
using npu::compat::Call;

namespace {

constexpr int32_t kPciText = 13;  // with its zero

aclError machine_device(int32_t user, int32_t* machine) {
  if (machine == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto found = npusimRtMachineDevice(user);
  if (found < 0) return ACL_ERROR_RT_INVALID_DEVICEID;
  *machine = static_cast<int32_t>(found);
  return ACL_SUCCESS;
}

// The program's device for which `is_it` says so. `none`: what else is said.
template <class IsIt>
aclError find_device(int32_t* user, aclError none, IsIt&& is_it) {
  if (user == nullptr) return ACL_ERROR_INVALID_PARAM;
  int32_t count = 0;
  const aclError status = rtGetDeviceCount(&count);
  if (status != ACL_SUCCESS) return status;
  for (int32_t device = 0; device < count; ++device) {
    if (!is_it(device)) continue;
    *user = device;
    return ACL_SUCCESS;
  }
  return none;
}

aclError user_device(int32_t machine, int32_t* user) {
  return find_device(user, ACL_ERROR_RT_INVALID_DEVICEID,
                     [machine](int32_t each) { return npusimRtMachineDevice(each) == machine; });
}

// Bus, device and function, as they are written.
aclError place_on_bus(int32_t user, char* text) {
  int32_t machine = 0;
  const aclError known = machine_device(user, &machine);
  if (known != ACL_SUCCESS) return known;
  uint32_t place = 0;
  const aclError status = ask_for<Call::kManageCard>(&place, {machine});
  if (status != ACL_SUCCESS) return ACL_ERROR_RT_INVALID_DEVICEID;
  std::snprintf(text, kPciText, "0000:%02x:%02x.%x", place >> 8 & 0xFF, place >> 3 & 0x1F,
                place & 7);
  return ACL_SUCCESS;
}

aclError no_atomics(uint32_t* capabilities, const aclrtAtomicOperation* operations,
                    uint32_t count) {
  if (capabilities == nullptr || operations == nullptr || count == 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::memset(capabilities, 0, count * sizeof *capabilities);
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclError aclrtGetLogicDevIdByUserDevId(const int32_t user, int32_t* const logic) {
  return machine_device(user, logic);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logic, int32_t* const user) {
  return user_device(logic, user);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t user, int32_t* const physical) {
  return machine_device(user, physical);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t physical, int32_t* const user) {
  return user_device(physical, user);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t user, int32_t* const physical) {
  return machine_device(user, physical);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t physical, int32_t* const user) {
  return user_device(physical, user);
}

aclError aclrtDeviceGetPCIBusId(int32_t device, char* text, int32_t length) {
  if (text == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (length < kPciText) return ACL_ERROR_RT_PARAM_INVALID;
  return place_on_bus(device, text);
}

aclError aclrtDeviceGetByPCIBusId(const char* text, int32_t* device) {
  if (text == nullptr) return ACL_ERROR_INVALID_PARAM;
  return find_device(device, ACL_ERROR_RT_PARAM_INVALID, [text](int32_t each) {
    char place[kPciText];
    return place_on_bus(each, place) == ACL_SUCCESS && std::strcmp(place, text) == 0;
  });
}

aclError aclrtDeviceGetUuid(int32_t device, aclrtUuid* uuid) {
  if (uuid == nullptr) return ACL_ERROR_INVALID_PARAM;
  char place[kPciText];
  const aclError status = place_on_bus(device, place);
  if (status != ACL_SUCCESS) return status;
  constexpr char kVersion8 = '\x80', kVariant = '\x80';
  char made[16] = {'n', 'p', 'u', 's', 'i', 'm', kVersion8, 0, kVariant};
  unsigned bus = 0, number = 0, function = 0;
  std::sscanf(place, "0000:%x:%x.%x", &bus, &number, &function);
  made[13] = static_cast<char>(bus);
  made[14] = static_cast<char>(number);
  made[15] = static_cast<char>(function);
  std::memcpy(uuid->bytes, made, sizeof made);
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities,
                                              const aclrtAtomicOperation* operations,
                                              const uint32_t count, int32_t device) {
  if (npusimRtMachineDevice(device) < 0) return ACL_ERROR_RT_INVALID_DEVICEID;
  return no_atomics(capabilities, operations, count);
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities,
                                             const aclrtAtomicOperation* operations,
                                             const uint32_t count, int32_t from, int32_t to) {
  if (npusimRtMachineDevice(from) < 0 || npusimRtMachineDevice(to) < 0 || from == to) {
    return ACL_ERROR_RT_INVALID_DEVICEID;
  }
  return no_atomics(capabilities, operations, count);
}

}  // extern "C"
