// SPDX-License-Identifier: Apache-2.0
#include "npu/jit/kernel_cache.hpp"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "kernels/jit/child.hpp"
#include "kernels/jit/compiler.hpp"
#include "kernels/jit/finder.hpp"
#include "kernels/jit/object_store.hpp"

namespace npu::jit {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

std::string default_cache_folder() {
  if (auto chosen = variable("NPUSIM_JIT_CACHE_DIR"); !chosen.empty()) return chosen;
  if (auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/npusim/jit";
  if (auto home = variable("HOME"); !home.empty()) return home + "/.cache/npusim/jit";
  return {};
}

class KernelCache::Impl {
 public:
  Impl(Toolchain toolchain, CacheOptions options)
      : compiler_(std::move(toolchain)),
        store_(std::move(options.folder), options.limit),
        finder_(compiler_, store_) {}

  Result<Loaded> get(const KernelRequest& request, const Interrupted& interrupted) {
    bool stopped = false;
    const Interrupted ask = [&] {
      stopped = stopped || (interrupted && interrupted());
      return stopped;
    };
    const auto key = kernel_key(request.macros, compiler_.toolchain().architecture, request.type);
    if (!key) return forward_error(key);
    const std::string id = *key + request.folder + "/" + request.template_file;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const auto [at, is_first] = slots_.try_emplace(id);
      if (is_first) at->second = std::make_shared<Slot>();
      const std::shared_ptr<Slot> slot = at->second;
      if (is_first) return first(request, *key, id, slot, lock, ask);
      if (!wait(lock, *slot, interrupted ? ask : Interrupted())) {
        return fail(ErrorCode::kAborted, "interrupted");
      }
      if (slot->given_up) continue;
      if (!*slot->outcome) return forward_error(*slot->outcome);
      ++memory_hits_;
      return Loaded{**slot->outcome, Origin::kMemory, {}, {}};
    }
  }

  Counters counters() {
    Counters counters;
    finder_.add_to(counters);
    counters.starts = compiler_.starts();
    counters.compile_time = compiler_.time();
    const std::lock_guard<std::mutex> lock(mutex_);
    counters.memory_hits = memory_hits_;
    return counters;
  }

  void forget() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = slots_.begin(); at != slots_.end();) {
      at = at->second->outcome ? slots_.erase(at) : std::next(at);
    }
    digests_.clear();
  }

  Status clear() {
    forget();
    return store_.is_there() ? store_.clear() : Status();
  }

 private:
  // What the threads that want one kernel share.
  struct Slot {
    bool given_up = false;  // by who was to get it: one of the others does
    std::optional<Result<std::shared_ptr<const Kernel>>> outcome;
  };

  Result<Loaded> first(const KernelRequest& request, const std::string& key, const std::string& id,
                       const std::shared_ptr<Slot>& slot, std::unique_lock<std::mutex>& lock,
                       const Interrupted& ask) {
    lock.unlock();
    auto loaded = find(request, key, ask);
    slot->given_up = !loaded && loaded.error().code == ErrorCode::kAborted && ask();
    lock.lock();
    if (loaded) {
      slot->outcome = loaded->kernel;
    } else {
      slot->outcome = forward_error(loaded);
      slots_.erase(id);  // who asks later tries anew
    }
    ready_.notify_all();
    return loaded;
  }

  // False: interrupted.
  bool wait(std::unique_lock<std::mutex>& lock, const Slot& slot, const Interrupted& ask) {
    const auto done = [&] { return slot.outcome.has_value(); };
    if (!ask) ready_.wait(lock, done);
    while (!ready_.wait_for(lock, kBetweenQuestions, done)) {
      lock.unlock();
      const bool stopped = ask();
      lock.lock();
      if (stopped) return false;
    }
    return true;
  }

  Result<Loaded> find(const KernelRequest& request, const std::string& key,
                      const Interrupted& ask) {
    auto digest = digest_of(request, key, ask);
    if (!digest) return forward_error(digest);
    return finder_.find(request, {std::move(*digest), key}, ask);
  }

  // Read once: a process goes on with the kernels of the files that it began with.
  // What the preprocessor makes of them depends on the macros, which are in the key.
  Result<std::string> digest_of(const KernelRequest& request, const std::string& key,
                                const Interrupted& ask) {
    const std::string id =
        request.folder + "/" + request.template_file + (request.folder.empty() ? "" : "/" + key);
    const std::lock_guard<std::mutex> lock(digest_mutex_);
    const auto known = digests_.find(id);
    if (known != digests_.end()) return known->second;
    auto digest = compiler_.digest(request, ask);
    if (digest) digests_.emplace(id, *digest);
    return digest;
  }

  Compiler compiler_;
  const ObjectStore store_;
  Finder finder_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::unordered_map<std::string, std::shared_ptr<Slot>> slots_;
  std::uint64_t memory_hits_ = 0;
  std::mutex digest_mutex_;
  std::unordered_map<std::string, std::string> digests_;
};

KernelCache::KernelCache(Toolchain toolchain, CacheOptions options)
    : impl_(std::make_unique<Impl>(std::move(toolchain), std::move(options))) {}

KernelCache::~KernelCache() = default;

Result<Loaded> KernelCache::get(const KernelRequest& request, const Interrupted& interrupted) {
  return impl_->get(request, interrupted);
}

Counters KernelCache::counters() const {
  return impl_->counters();
}

void KernelCache::forget() {
  impl_->forget();
}

Status KernelCache::clear() {
  return impl_->clear();
}

}  // namespace npu::jit
