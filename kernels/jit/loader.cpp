// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "kernels/jit/file.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/write_all.hpp"

namespace npu::jit {
namespace {

// The loader takes two objects with one path for one object, and numbers of descriptors come again.
// Slashes and dots that mean nothing make every path another one, and the number of the process
// those of others who do the same below /proc/self.
std::string unique_path(int descriptor) {
  static std::atomic<std::uint64_t> count{0};
  std::string path = "/proc/" + std::to_string(getpid()) + "/fd/";
  for (std::uint64_t rest = ++count; rest != 0; rest >>= 1U) {
    path += (rest & 1U) != 0 ? "./" : "/";
  }
  return path + std::to_string(descriptor);
}

std::string loader_error() {
  const char* text = dlerror();
  return shortened(text == nullptr ? "unknown error" : text, 300);
}

}  // namespace

Kernel::Kernel(std::string key, std::vector<std::byte> image, void* handle, Run entry,
               Reference computed)
    : key_(std::move(key)),
      image_(std::move(image)),
      handle_(handle),
      run_(entry),
      reference_(computed) {}

Kernel::~Kernel() {
  if (handle_ != nullptr) dlclose(handle_);
}

Result<std::shared_ptr<const Kernel>> load_kernel(const std::string& key,
                                                  std::vector<std::byte> image) {
  const auto memory = memory_file(key.c_str(), {image.data(), image.size()});
  if (!memory) return fail_errno("memory for a kernel");
  void* handle = dlopen(unique_path(memory.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(ErrorCode::kIo, "kernel " + key + ": " + loader_error());
  const auto run = reinterpret_cast<Run>(dlsym(handle, "run"));
  if (run == nullptr) {
    dlclose(handle);
    return fail(ErrorCode::kIo, "kernel " + key + " has no entry run()");
  }
  const auto reference = reinterpret_cast<Reference>(dlsym(handle, "reference"));
  return std::make_shared<const Kernel>(key, std::move(image), handle, run, reference);
}

}  // namespace npu::jit
