// SPDX-License-Identifier: Apache-2.0
// Kernels on demand, for programs that launch operators: from memory, else from the cache folder,
// else compiled.
//
// A kernel is stored as FOLDER/TOOLCHAIN/KEY.so. TOOLCHAIN is a digest of everything that is not in
// the key: template, compiler and version, flags, all source files. An object ends with a digest of
// itself, its toolchain and its key. If this does not match (torn, cut, foreign or renamed), the
// object is not loaded but compiled again. The same holds for one that another user could have
// written.
//
// An unusable cache folder costs only speed, and Loaded::warnings names it. All members may be
// called from several threads, and processes may share a folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/jit/export.hpp"
#include "npu/jit/kernel.hpp"
#include "npu/jit/key.hpp"
#include "npu/jit/toolchain.hpp"

namespace npu::jit {

struct CacheOptions {
  std::string folder;     // empty: none
  Bytes limit = 512_MiB;  // of all objects in the folder; a new one may exceed it
};

// $NPUSIM_JIT_CACHE_DIR, else $XDG_CACHE_HOME/npusim/jit, else $HOME/.cache/npusim/jit, else none.
NPU_JIT_API std::string default_cache_folder();

struct KernelRequest {
  std::string template_file;  // in Toolchain::templates, or in `folder`
  Macros macros;
  KernelType type = KernelType::kCube;
  bool loaded = true;  // false: only its bytes; run() is null
  // Folder of the template, for sources of users, with other files beside them: the kernel depends
  // on its preprocessed template alone, and objects name files in the folder without it. Empty:
  // Toolchain::templates; the kernel depends on all files there and in Toolchain::sources.
  std::string folder = {};
};

enum class Origin : std::uint8_t { kMemory, kDisk, kCompiled };

struct Loaded {
  std::shared_ptr<const Kernel> kernel;
  Origin origin = Origin::kMemory;
  std::chrono::nanoseconds compile_time{0};  // wall time; 0 unless compiled by this call
  std::vector<std::string> warnings;         // one line each
};

struct Counters {
  std::uint64_t compiled = 0;  // successful compilations
  std::uint64_t starts = 0;    // of the compiler, also failed or killed ones
  std::uint64_t disk_hits = 0;
  std::uint64_t memory_hits = 0;             // also of calls that waited for another thread
  std::uint64_t rejected = 0;                // objects in the folder that were not loaded
  std::uint64_t not_stored = 0;              // compiled, but not written to the folder
  std::uint64_t evicted = 0;                 // objects that this cache removed for the limit
  std::chrono::nanoseconds compile_time{0};  // wall time of all starts
};

// Called at least ten times a second in the thread that waits for a compiler or another caller's
// kernel. True: the wait ends, and it is not called again.
using Interrupted = std::function<bool()>;

class NPU_JIT_API KernelCache {
 public:
  explicit KernelCache(Toolchain toolchain, CacheOptions options = {default_cache_folder()});
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  // Of all callers for a kernel, in all threads and processes, one compiles it; the others wait and
  // load it. A compiler that was killed from outside is started once more.
  // kInvalidArgument: invalid macros (key.hpp); or the compiler refused, with "FILE:LINE: reason"
  // and its first lines in the context.
  // kNotFound: no such compiler, template or folder of sources.
  // kTimeout: the compiler exceeded Toolchain::time_out, and it and its children were killed.
  // kIo: no room for the compiler's output, or the object cannot be loaded.
  // kAborted: `interrupted` returned true (may be empty). The compiler was killed, and another
  // waiting caller compiles.
  Result<Loaded> get(const KernelRequest& request, const Interrupted& interrupted = {});

  Counters counters() const;

  // Drops all kernels from memory; those in use stay loaded. The folder does not change.
  void forget();
  // forget(), and removes all objects of all toolchains from the folder, but no other file.
  // kPermissionDenied, kIo: some objects remain.
  Status clear();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::jit
