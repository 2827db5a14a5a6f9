// SPDX-License-Identifier: Apache-2.0
// Children that are made without fork(), whose handlers see none of them. The C library's functions
// of these names are hidden by ours in programs that are linked to this library.
#include <dlfcn.h>
#include <spawn.h>

#include <cerrno>
#include <cstdio>

#include "compat/client/connect.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

// Whoever comes behind this library: another one of npusim's, or the C library.
template <class Function>
Function next_of(const char* name) {
  note_child();
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace npu::compat

extern "C" {

NPU_PUBLIC int posix_spawn(pid_t* child, const char* path,
                           const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* words,
                           char* const* environment) {
  const auto next = npu::compat::next_of<decltype(&::posix_spawn)>("posix_spawn");
  if (next == nullptr) return ENOSYS;
  return next(child, path, actions, attributes, words, environment);
}

NPU_PUBLIC int posix_spawnp(pid_t* child, const char* file,
                            const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const* words,
                            char* const* environment) {
  const auto next = npu::compat::next_of<decltype(&::posix_spawnp)>("posix_spawnp");
  if (next == nullptr) return ENOSYS;
  return next(child, file, actions, attributes, words, environment);
}

NPU_PUBLIC FILE* popen(const char* command, const char* mode) {
  const auto next = npu::compat::next_of<decltype(&::popen)>("popen");
  if (next == nullptr) {
    errno = ENOSYS;
    return nullptr;
  }
  return next(command, mode);
}

}  // extern "C"
