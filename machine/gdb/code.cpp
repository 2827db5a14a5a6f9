// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/code.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace npu::gdb {
namespace {

constexpr unsigned char kTrap = 0xCC;  // int3

}  // namespace

OwnMemory::OwnMemory() : file_(::open("/proc/self/mem", O_RDWR | O_CLOEXEC)) {}

bool OwnMemory::read(std::uint64_t address, void* to, std::size_t bytes) const {
  if (address > INT64_MAX) return false;
  const auto got = ::pread(file_.get(), to, bytes, static_cast<off_t>(address));
  return got == static_cast<ssize_t>(bytes);
}

bool OwnMemory::write(std::uint64_t address, const void* from, std::size_t bytes) const {
  if (address > INT64_MAX) return false;
  const auto done = ::pwrite(file_.get(), from, bytes, static_cast<off_t>(address));
  return done == static_cast<ssize_t>(bytes);
}

// Where a system forbids to write to code by way of the file, its page is made writable meanwhile.
bool Code::put(std::uint64_t address, unsigned char byte) {
  if (memory_.write(address, &byte, 1)) return true;
  const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(address / page_size * page_size);
  if (::mprotect(page, page_size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  *reinterpret_cast<volatile unsigned char*>(address) = byte;
  return ::mprotect(page, page_size, PROT_READ | PROT_EXEC) == 0;
}

bool Code::contains(std::uint64_t address) const {
  return std::any_of(objects_.begin(), objects_.end(), [address](const Range& object) {
    return object.begin <= address && address < object.end;
  });
}

bool Code::insert(std::uint64_t address) {
  unsigned char before = 0;
  const bool outside = address == kOutside;
  if (!outside && (!contains(address) || !memory_.read(address, &before, 1))) return false;
  wanted_.insert(address);
  lifted_.erase(address);
  update();
  return outside || patched(address);
}

void Code::remove(std::uint64_t address) {
  if (wanted_.erase(address) == 0) return;
  lifted_.insert(address);
  update();
}

void Code::lift_back() {
  shadows_ = lifted_;
  update();
}

void Code::stopped() {
  shadows_.clear();
  lifted_.clear();
  own_ = 0;
  update();
}

void Code::set_own(std::uint64_t address) {
  own_ = address;
  update();
}

void Code::clear() {
  wanted_.clear();
  stopped();
}

void Code::open(std::uint64_t address) {
  const auto found = patched_.find(address);
  if (found != patched_.end()) put(address, found->second);
}

void Code::close(std::uint64_t address) {
  if (patched(address)) put(address, kTrap);
}

void Code::hide(std::uint64_t address, unsigned char* data, std::size_t bytes) const {
  for (auto at = patched_.lower_bound(address); at != patched_.end(); ++at) {
    if (at->first - address >= bytes) break;
    data[at->first - address] = at->second;
  }
}

void Code::update() {
  auto all = wanted_;
  all.insert(shadows_.begin(), shadows_.end());
  if (own_ != 0) all.insert(own_);
  for (auto at = patched_.begin(); at != patched_.end();) {
    if (all.count(at->first) != 0) {
      ++at;
      continue;
    }
    put(at->first, at->second);
    at = patched_.erase(at);
  }
  for (const auto address : all) {
    unsigned char before = 0;
    if (address == kOutside || patched(address) || !memory_.read(address, &before, 1)) continue;
    if (put(address, kTrap)) patched_[address] = before;
  }
}

}  // namespace npu::gdb
