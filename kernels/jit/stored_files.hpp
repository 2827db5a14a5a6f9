// SPDX-License-Identifier: Apache-2.0
// The files of a cache's folder as files: listed, marked, removed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/jit/file.hpp"
#include "kernels/jit/sealed_object.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::jit {

inline constexpr const char* kObjectEnd = ".so";
inline constexpr const char* kPartEnd = ".part";  // an object that is being written
inline constexpr const char* kLockEnd = ".lock";

struct StoredFile {
  ObjectName name;
  std::string end;  // one of the above
  Bytes size = 0;
  std::int64_t used_s = 0;
  std::int64_t used_ns = 0;
};

// Folders in `base` that have a digest for their name.
std::vector<std::string> list_toolchains(const FileDescriptor& base);
// Files of theirs that have a key and one of the ends for their name; nothing else is ours.
std::vector<StoredFile> list_stored(const FileDescriptor& base);
// Longest ago first; the order of names where that is equal.
bool used_before(const StoredFile& a, const StoredFile& b);

// When it was used last is when the file was changed last: access times are not kept everywhere.
void mark_used(const FileDescriptor& folder, const std::string& file_name);

Status remove(const FileDescriptor& base, const StoredFile& file);
// With the key's lock, at once or not at all; false: somebody is making it, it is still there.
bool remove_unless_made(const FileDescriptor& base, const StoredFile& file);

}  // namespace npu::jit
