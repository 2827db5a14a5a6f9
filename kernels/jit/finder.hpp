// SPDX-License-Identifier: Apache-2.0
// A kernel that is not in memory: from the folder, or from the compiler.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "kernels/jit/compiler.hpp"
#include "kernels/jit/object_store.hpp"
#include "npu/base/result.hpp"
#include "npu/jit/kernel_cache.hpp"

namespace npu::jit {

// Usable from several threads; for one key by one at a time.
class Finder {
 public:
  Finder(Compiler& compiler, const ObjectStore& store) : compiler_(compiler), store_(store) {}

  Result<Loaded> find(const KernelRequest& request, const ObjectName& name,
                      const Interrupted& interrupted);

  // Disk hits and all behind them.
  void add_to(Counters& counters) const;

 private:
  // kNotFound: not there; any other error: not to be used.
  Result<Loaded> from_folder(const KernelRequest& request, const ObjectName& name) const;
  Result<Loaded> make(const KernelRequest& request, const ObjectName& name, bool keep,
                      std::vector<std::string> warnings, const Interrupted& interrupted);
  void keep_object(const KernelRequest& request, const ObjectName& name, ConstByteSpan object,
                   std::vector<std::string>& warnings);

  Compiler& compiler_;
  const ObjectStore& store_;
  std::atomic<std::uint64_t> compiled_{0};
  std::atomic<std::uint64_t> disk_hits_{0};
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> not_stored_{0};
  std::atomic<std::uint64_t> evicted_{0};
};

}  // namespace npu::jit
