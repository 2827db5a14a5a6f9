// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/finder.hpp"

#include "kernels/jit/loader.hpp"

namespace npu::jit {
namespace {

// Longer than whoever holds a key's lock may need: two compilations, and what is around them.
std::chrono::milliseconds timeout(const Toolchain& toolchain) {
  return 3 * toolchain.time_out + std::chrono::seconds(10);
}

Result<std::shared_ptr<const Kernel>> kernel_of(const KernelRequest& request,
                                                const std::string& source, const ObjectName& name,
                                                std::vector<std::byte> object) {
  if (request.loaded) return load_kernel(name.key, source, std::move(object));
  return std::make_shared<const Kernel>(name.key, std::move(object), nullptr, nullptr);
}

}  // namespace

Result<Loaded> Finder::from_folder(const KernelRequest& request, const ObjectName& name) const {
  auto object = store_.load(name);
  if (!object) return forward_error(object);
  auto kernel = kernel_of(request, compiler_.source_of(request), name, std::move(*object));
  if (!kernel) return forward_error(kernel);
  return Loaded{std::move(*kernel), Origin::kDisk, {}, {}};
}

Result<Loaded> Finder::find(const KernelRequest& request, const ObjectName& name,
                            const Interrupted& interrupted) {
  if (!store_.is_there()) return make(request, name, false, {}, interrupted);
  std::vector<std::string> warnings;
  auto found = from_folder(request, name);
  if (!found && found.error().code != ErrorCode::kNotFound) {
    ++rejected_;
    warnings.push_back("not loaded from the cache: " + found.error().message());
  }
  if (!found) {
    const auto lock = store_.lock(name, timeout(compiler_.toolchain()), interrupted);
    if (!lock && lock.error().code == ErrorCode::kAborted) return forward_error(lock);
    if (!lock) {
      warnings.push_back("not kept in the cache: " + lock.error().message());
      ++not_stored_;
      return make(request, name, false, std::move(warnings), interrupted);
    }
    found = from_folder(request, name);  // whoever had the lock before may have made it
    if (!found) return make(request, name, true, std::move(warnings), interrupted);
  }
  ++disk_hits_;
  found->warnings = std::move(warnings);
  return found;
}

Result<Loaded> Finder::make(const KernelRequest& request, const ObjectName& name, bool keep,
                            std::vector<std::string> warnings, const Interrupted& interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  auto object = compiler_.compile(request, interrupted);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  if (!object) return forward_error(object);
  auto kernel = kernel_of(request, compiler_.source_of(request), name, std::move(*object));
  if (!kernel) return forward_error(kernel);
  ++compiled_;
  if (keep) keep_object(request, name, (*kernel)->image(), warnings);
  return Loaded{std::move(*kernel), Origin::kCompiled, took, std::move(warnings)};
}

void Finder::keep_object(const KernelRequest& request, const ObjectName& name, ConstByteSpan object,
                         std::vector<std::string>& warnings) {
  // Files may have been edited since, and the object be of other ones than its name says.
  const auto digest = compiler_.digest(request, {});
  auto stored = digest && *digest == name.toolchain
                    ? store_.store(name, object)
                    : Status(fail(ErrorCode::kBusy, "its sources have changed meanwhile"));
  if (stored) {
    evicted_ += store_.evict(name);
    return;
  }
  ++not_stored_;
  warnings.push_back("not kept in the cache: " + stored.error().message());
}

void Finder::add_to(Counters& counters) const {
  counters.compiled += compiled_.load();
  counters.disk_hits += disk_hits_.load();
  counters.rejected += rejected_.load();
  counters.not_stored += not_stored_.load();
  counters.evicted += evicted_.load();
}

}  // namespace npu::jit
