// SPDX-License-Identifier: Apache-2.0
// Children that are made without fork(), whose handlers see none of them. The C library's functions
// of these names are hidden by ours in programs that are linked to this library.
#include <dlfcn.h>
#include <spawn.h>

#include <cerrno>
#include <cstdio>

#include "compat/client/connect.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace {

// Of whoever comes behind this library: another one of npusim's, or the C library.
template <class Function>
Function next_of(const char* name) {
  npu::compat::note_child();
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

template <class... Parameters>
int spawn(const char* name, Parameters... parameters) {
  const auto next = next_of<int (*)(Parameters...)>(name);
  return next == nullptr ? ENOSYS : next(parameters...);
}

}  // namespace

extern "C" {

NPU_PUBLIC int posix_spawn(pid_t* child, const char* path,
                           const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* words,
                           char* const* environment) {
  return spawn("posix_spawn", child, path, actions, attributes, words, environment);
}

NPU_PUBLIC int posix_spawnp(pid_t* child, const char* file,
                            const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const* words,
                            char* const* environment) {
  return spawn("posix_spawnp", child, file, actions, attributes, words, environment);
}

NPU_PUBLIC FILE* popen(const char* command, const char* mode) {
  const auto next = next_of<decltype(&::popen)>("popen");
  if (next == nullptr) {
    errno = ENOSYS;
    return nullptr;
  }
  return next(command, mode);
}

}  // extern "C"
