// SPDX-License-Identifier: Apache-2.0
// Kernels on demand: looked for in memory, then in the cache's folder, then compiled.
//
// A kernel lies at FOLDER/TOOLCHAIN/KEY.so. TOOLCHAIN is a digest of all that the key does not say:
// template, compiler and its version, flags, every source file. Objects carry a digest of their own
// behind their last byte that also binds toolchain and key; one that does not match (torn, cut off,
// foreign, renamed) is never loaded but made anew. So is one that somebody else could have written.
//
// A cache folder that cannot be used costs speed, nothing else: it is told in Loaded::warnings.
// All members may be called from several threads, and several processes may share a folder.
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
  std::string folder;     // empty: without one
  Bytes limit = 512_MiB;  // of all objects in the folder; the one just stored may exceed it
};

// $NPUSIM_JIT_CACHE_DIR, else $XDG_CACHE_HOME/npusim/jit, else $HOME/.cache/npusim/jit, else none.
NPU_JIT_API std::string default_cache_folder();

struct KernelRequest {
  std::string template_file;  // within Toolchain::templates
  Macros macros;
  KernelType type = KernelType::kCube;
  bool loaded = true;  // false: its bytes are wanted alone; nothing is loaded, run() is null
};

enum class Origin : std::uint8_t { kMemory, kDisk, kCompiled };

struct Loaded {
  std::shared_ptr<const Kernel> kernel;
  Origin origin = Origin::kMemory;
  std::chrono::nanoseconds compile_time{0};  // wall time; 0 unless compiled by this call
  std::vector<std::string> warnings;         // what was not as it should be, one line each
};

struct Counters {
  std::uint64_t compiled = 0;  // compilations that succeeded
  std::uint64_t starts = 0;    // of the compiler, also of those that failed or were killed
  std::uint64_t disk_hits = 0;
  std::uint64_t memory_hits = 0;             // also of those who waited while another thread got it
  std::uint64_t rejected = 0;                // objects found in the folder and not loaded
  std::uint64_t not_stored = 0;              // compiled, and not written into the folder
  std::uint64_t evicted = 0;                 // objects that this cache removed to keep to the limit
  std::chrono::nanoseconds compile_time{0};  // wall time of all starts together
};

// Asked at least ten times a second by whoever waits for a compiler or for somebody else's kernel,
// in the thread that waits. True: it does not want to any longer. Not asked again then.
using Interrupted = std::function<bool()>;

class NPU_JIT_API KernelCache {
 public:
  explicit KernelCache(Toolchain toolchain, CacheOptions options = {default_cache_folder()});
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  // One of all callers for a kernel compiles it, in whatever thread or process; the others wait and
  // load. A compiler that was killed from outside is started once more.
  // kInvalidArgument: macros that make no key; the compiler refused, and the context is "FILE:LINE:
  // reason" with its first lines. kNotFound: no such compiler, template or folder of sources.
  // kTimeout: the compiler took longer than it may; it and its children were killed. kIo: no room
  // for the compiler's output, or an object that cannot be loaded. kAborted: `interrupted` was true
  // (may be empty); its compiler is dead then, its locks are free, and others who wait compile.
  Result<Loaded> get(const KernelRequest& request, const Interrupted& interrupted = {});

  Counters counters() const;

  // Memory forgets; kernels that somebody holds stay loaded. The folder is left alone.
  void forget();
  // forget(), and removes every object of every toolchain from the folder, and no other file.
  // kPermissionDenied, kIo: some of them are still there.
  Status clear();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::jit
