// SPDX-License-Identifier: Apache-2.0
// Marks, ranges and steps of the program for its profile; domains of them.
#include <acl/acl_prof.h>
#include <mstx/ms_tools_ext.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "apps/compat/acl/profile.hpp"

using npu::compat::add_mark;
using npu::compat::host_nanoseconds;
using npu::compat::takes_marks;

struct aclprofStepInfo {
  uint64_t begin = 0;
  bool begun = false;
};
struct mstxDomainRegistration_st {
  std::string name;
};

namespace {

constexpr std::size_t kLongestText = 127;
constexpr const char* kDefault = "default";

struct Stamp {
  std::string text;
};

struct Open {
  std::string domain, text;
  uint64_t begin = 0;
};
struct Ranges {
  std::mutex lock;
  std::map<uint64_t, Open> open;  // by number
  uint64_t given = 0;
  std::map<std::string, mstxDomainRegistration_st> domains;
};
Ranges& ranges() {
  static auto* const kRanges = new Ranges;
  return *kRanges;
}

std::vector<Open>& nested() {
  static thread_local std::vector<Open> open;
  return open;
}

void end(const char* kind, const Open& range) {
  if (takes_marks()) add_mark({kind, range.domain, range.text, range.begin, host_nanoseconds()});
}

void mark(const std::string& domain, const std::string& text) {
  if (!takes_marks()) return;
  const auto now = host_nanoseconds();
  add_mark({"mark", domain, text, now, now});
}

uint64_t begin(const std::string& domain, const std::string& text) {
  const auto now = takes_marks() ? host_nanoseconds() : 0;
  const std::lock_guard<std::mutex> held(ranges().lock);
  ranges().open[++ranges().given] = {domain, text, now};
  return ranges().given;
}

// False: there is none of that number in the domain.
bool end_range(uint64_t number, const std::string& domain) {
  std::unique_lock<std::mutex> held(ranges().lock);
  const auto found = ranges().open.find(number);
  if (found == ranges().open.end() || found->second.domain != domain) return false;
  const Open range = found->second;
  ranges().open.erase(found);
  held.unlock();
  end("range", range);
  return true;
}

// Empty: it is none.
std::string name_of(mstxDomainHandle_t domain) {
  const std::lock_guard<std::mutex> held(ranges().lock);
  for (const auto& [name, each] : ranges().domains) {
    if (&each == domain) return name;
  }
  return {};
}

}  // namespace

extern "C" {

aclprofStepInfo* aclprofCreateStepInfo(void) {
  return new (std::nothrow) aclprofStepInfo;
}

void aclprofDestroyStepInfo(aclprofStepInfo* step) {
  delete step;
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* step, aclprofStepTag tag, aclrtStream stream) {
  static_cast<void>(stream);
  if (step == nullptr || (tag != ACL_STEP_START && !step->begun)) return ACL_ERROR_INVALID_PARAM;
  if (tag == ACL_STEP_START) {
    step->begun = true;
    step->begin = takes_marks() ? host_nanoseconds() : 0;
    return ACL_SUCCESS;
  }
  step->begun = false;
  end("step", {kDefault, "step", step->begin});
  return ACL_SUCCESS;
}

void* aclprofCreateStamp(void) {
  return new (std::nothrow) Stamp;
}

void aclprofDestroyStamp(void* stamp) {
  delete static_cast<Stamp*>(stamp);
}

aclError aclprofSetStampTraceMessage(void* stamp, const char* text, uint32_t length) {
  if (stamp == nullptr || text == nullptr || length > kLongestText) return ACL_ERROR_INVALID_PARAM;
  static_cast<Stamp*>(stamp)->text.assign(text, ::strnlen(text, length));
  return ACL_SUCCESS;
}

aclError aclprofMark(void* stamp) {
  if (stamp == nullptr) return ACL_ERROR_INVALID_PARAM;
  mark(kDefault, static_cast<const Stamp*>(stamp)->text);
  return ACL_SUCCESS;
}

aclError aclprofPush(void* stamp) {
  if (stamp == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto now = takes_marks() ? host_nanoseconds() : 0;
  nested().push_back({kDefault, static_cast<const Stamp*>(stamp)->text, now});
  return ACL_SUCCESS;
}

aclError aclprofPop(void) {
  if (nested().empty()) return ACL_ERROR_INTERNAL_ERROR;
  const Open range = nested().back();
  nested().pop_back();
  end("push_pop", range);
  return ACL_SUCCESS;
}

aclError aclprofRangeStart(void* stamp, uint32_t* number) {
  if (stamp == nullptr || number == nullptr) return ACL_ERROR_INVALID_PARAM;
  *number = static_cast<uint32_t>(begin(kDefault, static_cast<const Stamp*>(stamp)->text));
  return ACL_SUCCESS;
}

aclError aclprofRangeStop(uint32_t number) {
  return end_range(number, kDefault) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

void mstxMarkA(const char* text, aclrtStream stream) {
  static_cast<void>(stream);
  if (text != nullptr) mark(kDefault, text);
}

mstxRangeId mstxRangeStartA(const char* text, aclrtStream stream) {
  static_cast<void>(stream);
  return text == nullptr ? 0 : begin(kDefault, text);
}

void mstxRangeEnd(mstxRangeId range) {
  static_cast<void>(end_range(range, kDefault));
}

mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  if (name == nullptr || *name == 0) return nullptr;
  const std::lock_guard<std::mutex> held(ranges().lock);
  auto& domain = ranges().domains[name];
  domain.name = name;
  return &domain;
}

void mstxDomainDestroy(mstxDomainHandle_t domain) {
  const auto name = name_of(domain);
  const std::lock_guard<std::mutex> held(ranges().lock);
  ranges().domains.erase(name);
}

void mstxDomainMarkA(mstxDomainHandle_t domain, const char* text, aclrtStream stream) {
  static_cast<void>(stream);
  const auto name = name_of(domain);
  if (!name.empty() && text != nullptr) mark(name, text);
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* text, aclrtStream stream) {
  static_cast<void>(stream);
  const auto name = name_of(domain);
  return name.empty() || text == nullptr ? 0 : begin(name, text);
}

void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId range) {
  const auto name = name_of(domain);
  if (!name.empty()) static_cast<void>(end_range(range, name));
}

}  // extern "C"
