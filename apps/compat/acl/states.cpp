// SPDX-License-Identifier: Apache-2.0
// Functions of the program's that are told of streams and devices that come and go.
#include <string>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/kept.hpp"

namespace npu::compat {
namespace {

template <class Call>
struct Registered {
  Call call = nullptr;
  void* data = nullptr;
};
template <class Call>
using Registry = Kept<std::string, Registered<Call>>;

auto& of_streams() {
  static auto* const kAll = new Registry<aclrtStreamStateCallback>;
  return *kAll;
}
auto& of_devices() {
  static auto* const kAll = new Registry<aclrtDeviceStateCallback>;
  return *kAll;
}

template <class Call>
aclError set(Registry<Call>& all, const char* name, Call call, void* data) {
  if (name == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (call == nullptr) return all.drop(name) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
  all.set(name, {call, data});
  return ACL_SUCCESS;
}

}  // namespace

void tell_stream(aclrtStream stream, aclrtStreamState state) {
  for (const auto& [name, each] : of_streams().all()) each.call(stream, state, each.data);
}

void tell_device(int32_t device, aclrtDeviceState state) {
  for (const auto& [name, each] : of_devices().all()) each.call(device, state, each.data);
}

}  // namespace npu::compat

extern "C" {

aclError aclrtRegStreamStateCallback(const char* name, aclrtStreamStateCallback call, void* data) {
  return npu::compat::set(npu::compat::of_streams(), name, call, data);
}

aclError aclrtRegDeviceStateCallback(const char* name, aclrtDeviceStateCallback call, void* data) {
  return npu::compat::set(npu::compat::of_devices(), name, call, data);
}

}  // extern "C"
