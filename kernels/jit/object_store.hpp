// SPDX-License-Identifier: Apache-2.0
// Objects in the cache's folder: FOLDER/TOOLCHAIN/KEY.so.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/jit/file.hpp"
#include "kernels/jit/key_lock.hpp"
#include "kernels/jit/sealed_object.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::jit {

// Holds nothing open between two calls: folders come and go.
class ObjectStore {
 public:
  ObjectStore(std::string folder, Bytes limit) : folder_(std::move(folder)), limit_(limit) {}

  bool is_there() const { return !folder_.empty(); }

  // kNotFound: there is none, or no folder that may be used, which lock() tells. Any other error:
  // there is something that is not to be loaded. What is found becomes the one used last.
  Result<std::vector<std::byte>> load(const ObjectName& name) const;
  // Nobody else makes this object as long as the lock is held.
  Result<KeyLock> lock(const ObjectName& name, std::chrono::milliseconds timeout,
                       const Interrupted& interrupted) const;
  // To be called with the lock. All of the object is there under its name, or nothing is.
  Status store(const ObjectName& name, ConstByteSpan object) const;
  // Removes what was used longest ago until the limit is kept, but never `name`; what somebody else
  // is making is left alone. How many.
  std::uint64_t evict(const ObjectName& name) const;
  // Removes all of them.
  Status clear() const;

 private:
  std::string folder_;
  Bytes limit_;
};

}  // namespace npu::jit
