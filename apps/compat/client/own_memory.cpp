// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/own_memory.hpp"

#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/watched_pinned.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace npu::compat {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

// The kernel copies, and says so where there is nothing. Where it does not let a program look at
// itself (a sandbox), the program copies. Called as system calls: a sanitizer that wraps the
// functions takes an address that the kernel is asked about for one that the program reads.
bool transfer(void* mine, void* other, std::size_t count, bool write) {
  constexpr unsigned kMostTries = 1000;  // more: it is the other side that is not there
  unsigned tries = 0;
  while (count > 0) {
    iovec there{mine, count}, here{other, count};
    const long done = ::syscall(write ? SYS_process_vm_writev : SYS_process_vm_readv, ::getpid(),
                                &here, 1, &there, 1, 0);
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) {
      write ? std::memcpy(mine, other, count) : std::memcpy(other, mine, count);
      return true;
    }
    if (done < 0 && errno == EINTR) continue;
    // A page of managed memory is elsewhere; it may go again before it is copied.
    const bool gone = done < 0 && errno == EFAULT && ++tries < kMostTries;
    const auto piece = std::min(count, kPiece);
    const auto touch = [piece](void* begin, bool writes) {
      return touch_watched(begin, piece, writes) || touch_managed(begin, piece, writes);
    };
    const bool own_came = gone && touch(mine, write);
    const bool other_came = gone && touch(other, !write);
    if (own_came || other_came) continue;
    if (done <= 0) return false;
    tries = 0;
    const auto moved = static_cast<std::size_t>(done);
    mine = static_cast<std::byte*>(mine) + moved;
    other = static_cast<std::byte*>(other) + moved;
    count -= moved;
  }
  return true;
}

// Addresses that a program names may be any numbers.
bool is_range(const void* begin, std::size_t count) {
  return count <= UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(begin);
}

}  // namespace

bool read_own(void* to, const void* from, std::size_t count) {
  return transfer(const_cast<void*>(from), to, count, false);
}

bool write_own(void* to, const void* from, std::size_t count) {
  return transfer(to, const_cast<void*>(from), count, true);
}

bool move_own(void* to, const void* from, std::size_t count) {
  if (!is_range(to, count) || !is_range(from, count)) return false;
  const auto* const begin = static_cast<const std::byte*>(from);
  auto* const target = static_cast<std::byte*>(to);
  if (target >= begin + count || begin >= target + count) return write_own(to, from, count);
  // From the end that the copy does not write first.
  std::byte piece[4096];
  for (std::size_t done = 0; done < count;) {
    const std::size_t size = std::min(sizeof piece, count - done);
    const std::size_t at = target < begin ? done : count - done - size;
    if (!read_own(piece, begin + at, size) || !write_own(target + at, piece, size)) return false;
    done += size;
  }
  return true;
}

bool fill_own(void* to, int value, std::size_t count) {
  if (!is_range(to, count)) return false;
  std::byte filled[4096];
  std::memset(filled, value, sizeof filled);
  auto* at = static_cast<std::byte*>(to);
  for (std::size_t done = 0; done < count; done += sizeof filled) {
    if (!write_own(at + done, filled, std::min(sizeof filled, count - done))) return false;
  }
  return true;
}

// As the kernel lists what the process has mapped, by address.
bool is_data(const void* begin, std::size_t count) {
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = from + count;
  const auto here = reinterpret_cast<std::uintptr_t>(&begin);
  if (to < from) return false;
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  auto seen = from;  // all before it is data
  char line[512];
  while (seen < to && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long first = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &first, &end, rights) != 3) continue;
    const bool holds = first <= seen && seen < end;
    if (!holds) continue;
    const bool own_stack = first <= here && here < end;
    if (rights[0] != 'r' || rights[1] != 'w' || own_stack) break;
    seen = end;
  }
  std::fclose(maps);
  return seen >= to;
}

}  // namespace npu::compat
