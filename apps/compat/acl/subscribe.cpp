// SPDX-License-Identifier: Apache-2.0
// Operators of models in a pipe: of models of the vendor's, of which none runs here. So nothing is
// ever written.
#include <acl/acl_prof.h>
#include <profiling/aprof_pub.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>

struct aclprofSubscribeConfig {
  int* pipe = nullptr;
};

namespace {

constexpr size_t kNoRecord = 512;  // bytes of a record, if there were any

struct Model {
  bool subscribed = false;
  int pipe = -1;
};
struct Models {
  std::mutex lock;
  std::map<uint32_t, Model> known;  // by number
};
Models& models() {
  static auto* const kModels = new Models;
  return *kModels;
}

// No data has a record.
aclError no_record(const void* data, const void* to) {
  static_cast<void>(data);
  static_cast<void>(to);
  return ACL_ERROR_INVALID_PARAM;
}

}  // namespace

extern "C" {

int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t model, const uint32_t device) {
  static_cast<void>(device);
  const std::lock_guard<std::mutex> held(models().lock);
  return models().known.emplace(model, Model{}).second ? 0 : -1;
}

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t times, aclprofAicoreMetrics metrics,
                                                     void* fd) {
  static_cast<void>(times);
  static_cast<void>(metrics);
  if (fd == nullptr) return nullptr;
  return new (std::nothrow) aclprofSubscribeConfig{static_cast<int*>(fd)};
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* config) {
  if (config == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete config;
  return ACL_SUCCESS;
}

aclError aclprofModelSubscribe(uint32_t model, const aclprofSubscribeConfig* config) {
  if (config == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(models().lock);
  const auto found = models().known.find(model);
  if (found == models().known.end() || found->second.subscribed) return ACL_ERROR_INVALID_PARAM;
  found->second = {true, *config->pipe};
  return ACL_SUCCESS;
}

aclError aclprofModelUnSubscribe(uint32_t model) {
  const std::lock_guard<std::mutex> held(models().lock);
  const auto found = models().known.find(model);
  if (found == models().known.end() || !found->second.subscribed) return ACL_ERROR_INVALID_PARAM;
  ::close(found->second.pipe);  // who reads comes to the end
  found->second = {};
  return ACL_SUCCESS;
}

aclError aclprofGetOpDescSize(size_t* size) {
  if (size == nullptr) return ACL_ERROR_INVALID_PARAM;
  *size = kNoRecord;
  return ACL_SUCCESS;
}

aclError aclprofGetOpNum(const void* data, size_t length, uint32_t* count) {
  static_cast<void>(length);
  if (data == nullptr || count == nullptr) return ACL_ERROR_INVALID_PARAM;
  *count = 0;
  return ACL_SUCCESS;
}

aclError aclprofGetOpTypeLen(const void* data, size_t, uint32_t, size_t* size) {
  return no_record(data, size);
}

aclError aclprofGetOpType(const void* data, size_t, uint32_t, char* text, size_t) {
  return no_record(data, text);
}

aclError aclprofGetOpNameLen(const void* data, size_t, uint32_t, size_t* size) {
  return no_record(data, size);
}

aclError aclprofGetOpName(const void* data, size_t, uint32_t, char* text, size_t) {
  return no_record(data, text);
}

uint64_t aclprofGetOpStart(const void*, size_t, uint32_t) {
  return 0;
}

uint64_t aclprofGetOpEnd(const void*, size_t, uint32_t) {
  return 0;
}

uint64_t aclprofGetOpDuration(const void*, size_t, uint32_t) {
  return 0;
}

size_t aclprofGetModelId(const void*, size_t, uint32_t) {
  return 0;
}

}  // extern "C"
