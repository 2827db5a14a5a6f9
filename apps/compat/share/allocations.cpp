// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/share/allocations.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace npu::share {
namespace {

// A word that is not known ends the program: a layer that silently does nothing is worse.
[[noreturn]] void refuse(const char* variable, const char* value) {
  std::fprintf(stderr, "npushare: %s=%s\n", variable, value);
  std::exit(2);
}

Mode mode_of(const char* name) {
  if (name == nullptr || std::strcmp(name, "native") == 0) return Mode::kNative;
  if (std::strcmp(name, "svm_coop") == 0) return Mode::kCooperative;
  if (std::strcmp(name, "svm_transparent") == 0) return Mode::kTransparent;
  refuse("NPUSHARE_MODE", name);
}

std::size_t quota_of(const char* number) {
  if (number == nullptr) return SIZE_MAX;
  char* end = nullptr;
  const auto bytes = std::strtoull(number, &end, 10);
  if (end == number || *end != 0 || *number == '-') refuse("NPUSHARE_QUOTA_BYTES", number);
  return bytes;
}

// Small allocations share pages.
std::size_t pages(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  return bytes > SIZE_MAX - kPage ? bytes : (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

// Left alone at the process' end: threads may still be in calls.
Allocations& Allocations::all() {
  static Allocations* const kAll = new Allocations;
  return *kAll;
}

Allocations::Allocations()
    : mode_(mode_of(std::getenv("NPUSHARE_MODE"))),
      quota_(quota_of(std::getenv("NPUSHARE_QUOTA_BYTES"))) {
  if (std::getenv("NPUSHARE_REPORT") != nullptr) std::atexit(report);
}

bool Allocations::is_untold() {
  if (quota_ == SIZE_MAX || is_managed()) return false;
  const std::lock_guard<std::mutex> held(lock_);
  const pid_t here = ::getpid();
  if (told_in_ == here) return false;
  if (told_in_ != 0) {
    allocations_.clear();
    used_ = 0;
  }
  told_in_ = here;
  return true;
}

bool Allocations::take(std::size_t bytes) {
  const std::lock_guard<std::mutex> held(lock_);
  if (!kept_below_ && (bytes > SIZE_MAX - used_ || pages(used_ + bytes) > quota_)) {
    ++refused_;
    return false;
  }
  used_ += bytes;
  return true;
}

void Allocations::give_back(std::size_t bytes, bool refused) {
  const std::lock_guard<std::mutex> held(lock_);
  used_ -= std::min(used_, bytes);
  if (refused) ++refused_;
}

void Allocations::add(const void* key, std::size_t bytes, bool device_memory) {
  const std::lock_guard<std::mutex> held(lock_);
  allocations_[key] = {bytes, device_memory};
  ++allocated_;
  most_ = std::max(most_, pages(used_));
}

void Allocations::remove(const void* key) {
  const std::lock_guard<std::mutex> held(lock_);
  const auto found = allocations_.find(key);
  if (found == allocations_.end()) return;
  used_ -= std::min(used_, found->second.bytes);
  allocations_.erase(found);
}

void Allocations::clear() {
  const std::lock_guard<std::mutex> held(lock_);
  allocations_.clear();
  used_ = 0;
}

// Managed memory may be more than the card has: then the quota alone says how much there is.
void Allocations::show(std::size_t* free, std::size_t* total) const {
  const std::lock_guard<std::mutex> held(lock_);
  if (is_managed()) {
    if (quota_ != SIZE_MAX) *total = quota_;
    *free = *total - std::min(*total, pages(used_));
    return;
  }
  if (kept_below_) return;  // it is what the library below shows
  *total = std::min(*total, quota_);
  *free = std::min(*free, *total - std::min(*total, pages(used_)));
}

std::vector<Allocations::Range> Allocations::take_fresh() {
  const std::lock_guard<std::mutex> held(lock_);
  std::vector<Range> fresh;
  for (auto& [address, allocation] : allocations_) {
    if (!allocation.fresh) continue;
    allocation.fresh = false;
    fresh.push_back({address, allocation.bytes});
  }
  return fresh;
}

void Allocations::report() {
  const auto& of = all();
  const std::lock_guard<std::mutex> held(of.lock_);
  std::fprintf(stderr, "npushare: %llu allocations, %zu bytes at most, %llu refused\n",
               static_cast<unsigned long long>(of.allocated_), of.most_,
               static_cast<unsigned long long>(of.refused_));
}

}  // namespace npu::share
