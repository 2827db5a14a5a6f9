// SPDX-License-Identifier: Apache-2.0
#include <acl/acl.h>
#include <runtime/npusim_rt.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/compat/acl/dumps.hpp"
#include "apps/compat/acl/refused.hpp"
#include "apps/compat/client/request.hpp"

namespace npu::compat {
namespace {

// Functions of the program's, in their order.
template <class Function>
class Told {
 public:
  aclError add(aclRegisterCallbackType type, Function call, void* data) {
    if (call == nullptr) return ACL_ERROR_INVALID_PARAM;
    const std::lock_guard<std::mutex> held(lock_);
    const auto is_type = [type](const Each& each) { return each.type == type; };
    if (type != ACL_REG_TYPE_OTHER && std::any_of(all_.begin(), all_.end(), is_type)) {
      return ACL_ERROR_INTERNAL_ERROR;
    }
    all_.push_back({type, call, data});
    return ACL_SUCCESS;
  }
  aclError drop(aclRegisterCallbackType type, Function call) {
    const std::lock_guard<std::mutex> held(lock_);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Each& each) {
      return each.type == type && each.call == call;
    });
    if (found == all_.end()) return ACL_ERROR_INVALID_PARAM;
    all_.erase(found);
    return ACL_SUCCESS;
  }
  // They may register others.
  template <class... Values>
  aclError tell(const Values&... values) {
    aclError first = ACL_SUCCESS;
    std::unique_lock<std::mutex> held(lock_);
    const auto all = all_;
    held.unlock();
    for (const auto& each : all) {
      const aclError status = each.call(values..., each.data);
      if (first == ACL_SUCCESS) first = status;
    }
    return first;
  }

 private:
  struct Each {
    aclRegisterCallbackType type;
    Function call;
    void* data;
  };
  std::mutex lock_;
  std::vector<Each> all_;
};

auto& at_init() {
  static auto* const kAll = new Told<aclInitCallbackFunc>;
  return *kAll;
}
auto& at_end() {
  static auto* const kAll = new Told<aclFinalizeCallbackFunc>;
  return *kAll;
}

struct Life {
  std::atomic<bool> on{false};
  std::mutex lock;
  std::string config;  // the file's bytes
};
Life& life() {
  static auto* const kLife = new Life;
  return *kLife;
}

// Empty: there is no such file.
std::string bytes_of_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace
}  // namespace npu::compat

using npu::compat::life;

extern "C" {

aclError aclInit(const char* config_path) {
  std::string config;
  if (config_path != nullptr && *config_path != 0) {
    config = npu::compat::bytes_of_file(config_path);
    const aclError status = npu::compat::configure_dumps(config);
    if (status != ACL_SUCCESS) return status;
  }
  const aclError status = npusimRtInit();
  if (status != ACL_SUCCESS) return status;
  {
    const std::lock_guard<std::mutex> held(life().lock);
    life().config = config;
  }
  life().on = true;
  return npu::compat::at_init().tell(config.c_str(), config.size());
}

aclError aclFinalize(void) {
  const aclError told = life().on.exchange(false) ? npu::compat::at_end().tell() : ACL_SUCCESS;
  const aclError status = npusimRtFinalize();
  return status == ACL_SUCCESS ? told : status;
}

aclError aclFinalizeReference(uint64_t* count) {
  uint64_t left = 0;
  const aclError status = npusimRtFinalizeReference(&left);
  if (status == ACL_SUCCESS && count != nullptr) *count = left;
  const bool last = status == ACL_SUCCESS && left == 0 && life().on.exchange(false);
  return last ? npu::compat::at_end().tell() : status;
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc call,
                                 void* data) {
  const aclError status = npu::compat::at_init().add(type, call, data);
  if (status != ACL_SUCCESS || !life().on) return status;
  std::string config;
  {
    const std::lock_guard<std::mutex> held(life().lock);
    config = life().config;
  }
  return call(config.c_str(), config.size(), data);
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc call) {
  return npu::compat::at_init().drop(type, call);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc call,
                                     void* data) {
  return npu::compat::at_end().add(type, call, data);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc call) {
  return npu::compat::at_end().drop(type, call);
}

const char* aclGetRecentErrMsg(void) {
  static thread_local char text[sizeof npu::compat::refused_words()];
  // What npusim has to tell is older.
  const char* const told = npusimRtErrorMessage();
  const char* const refused = std::exchange(npu::compat::refused_call(), nullptr);
  if (refused == nullptr) return *told == 0 ? nullptr : told;
  if (refused == npu::compat::refused_words()) {
    std::memcpy(text, refused, sizeof text);
    return text;
  }
  // Functions of the library's own do not mean anything to a program.
  const bool is_public = std::strncmp(refused, "acl", 3) == 0;
  std::snprintf(text, sizeof text, "%s%sa parameter is null, 0, or out of its range",
                is_public ? refused : "", is_public ? ": " : "");
  return text;
}

aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) return ACL_ERROR_INVALID_PARAM;
  *major = 8;
  *minor = 5;
  *patch = 0;
  return ACL_SUCCESS;
}

size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

}  // extern "C"
