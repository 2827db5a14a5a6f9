// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/loader.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

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

constexpr std::size_t kLongestText = 300;

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return shortened(name == nullptr ? symbol : std::string(name.get()), kLongestText);
}

// A function that the source declares and nobody has is the source's mistake.
tl::unexpected<Error> not_loaded(const std::string& key, const std::string& source) {
  const char* const told = dlerror();
  const std::string text = told == nullptr ? "unknown error" : told;
  const std::string mark = "undefined symbol: ";
  const auto at = text.find(mark);
  if (at == std::string::npos) {
    return fail(ErrorCode::kIo, "kernel " + key + ": " + shortened(text, kLongestText));
  }
  const auto begin = at + mark.size();
  const auto symbol = text.substr(begin, text.find_first_of(" ,\t\n", begin) - begin);
  return fail(ErrorCode::kInvalidArgument,
              shortened(source, kShownPath) + ": undefined: " + demangled(symbol));
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

Result<std::shared_ptr<const Kernel>> load_kernel(const std::string& key, const std::string& source,
                                                  std::vector<std::byte> image) {
  const auto memory = memory_file(key.c_str(), {image.data(), image.size()});
  if (!memory) return fail_errno("memory for a kernel");
  void* handle = dlopen(unique_path(memory.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return not_loaded(key, source);
  const auto run = reinterpret_cast<Run>(dlsym(handle, "run"));
  if (run == nullptr) {
    dlclose(handle);
    return fail(
        ErrorCode::kInvalidArgument,
        shortened(source, kShownPath) + ": NPU_OPERATOR is missing: it makes the entry run()");
  }
  const auto reference = reinterpret_cast<Reference>(dlsym(handle, "reference"));
  return std::make_shared<const Kernel>(key, std::move(image), handle, run, reference);
}

}  // namespace npu::jit
