// SPDX-License-Identifier: Apache-2.0
#include "model/core/program_loader.hpp"

#include <dlfcn.h>
#include <openssl/evp.h>

#include <algorithm>
#include <string>

#include "model/core/program_debugger.hpp"
#include "npu/base/write_all.hpp"

namespace npu::model {
namespace {

std::array<std::uint8_t, 32> sha256(ConstByteSpan bytes) {
  std::array<std::uint8_t, 32> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data, bytes.size, digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    return {};
  }
  return digest;
}

// The dynamic linker takes a path that it has seen before for the library it found there then, even
// if the descriptor has been closed: no path is used twice. It does not shorten them.
std::string path_of(int file) {
  static std::uint32_t loads = 0;
  std::string path = "/proc/self/fd";
  for (std::uint32_t bits = ++loads; bits != 0; bits >>= 1) path += (bits & 1) != 0 ? "/." : "//.";
  return path + "/" + std::to_string(file);
}

// Of the object that it lies in; 0: in none.
std::uintptr_t base_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) return 0;
  return reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

// kernels/counting/rewriter.hpp
const std::uint64_t* counter_of(void* handle) {
  void* const access = dlsym(handle, "npu_instruction_counter");
  return access == nullptr ? nullptr : reinterpret_cast<const std::uint64_t* (*)()>(access)();
}

}  // namespace

struct ProgramLoader::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* handle;
  LoadedProgram program;
  ConstByteSpan file;
  bool known = true;  // to the card
};

ProgramLoader::ProgramLoader(abi::ImageKind kind, const char* entry, const CountedPrograms& counted,
                             const ProgramFiles& files)
    : kind_(kind), entry_(entry), counted_(counted), files_(files) {}

ProgramLoader::~ProgramLoader() = default;

bool ProgramLoader::accepts(const abi::ImageHeader& header) const {
  return header.magic == abi::kImageMagic && header.version == abi::kImageVersion &&
         header.kind == static_cast<std::uint16_t>(kind_) && header.size != 0 &&
         header.size <= abi::kMaxImageSize;
}

LoadedProgram ProgramLoader::find(const abi::ImageHeader& header) const {
  const auto found = loaded_.find(header.digest);
  const bool known = found != loaded_.end() && found->second->known;
  return known ? found->second->program : LoadedProgram();
}

void ProgramLoader::forget() {
  for (auto& each : loaded_) each.second->known = false;
}

LoadedProgram ProgramLoader::load(const abi::ImageHeader& header, const void* object) {
  if (const auto program = find(header); program.entry != nullptr) return program;
  const ConstByteSpan given(static_cast<const std::byte*>(object), header.size);
  if (!accepts(header) || sha256(given) != header.digest) return {};
  if (const auto found = loaded_.find(header.digest); found != loaded_.end()) {
    found->second->known = true;
    return found->second->program;
  }
  const ConstByteSpan twin = counted_.find(given);
  const FileDescriptor file = memory_file("npu-program", twin.size != 0 ? twin : given);
  if (!file) return {};
  void* const handle = dlopen(path_of(file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {};
  auto library = std::make_unique<Library>(handle);
  library->file = twin.size != 0 ? twin : files_.find(given);
  library->program = {dlsym(handle, entry_), counted_.enabled() ? counter_of(handle) : nullptr};
  if (library->program.entry == nullptr) return {};
  const auto& loaded = *(loaded_[header.digest] = std::move(library));
  if (detail::program_debugger != nullptr) {
    // A handle is the dynamic linker's entry (dlinfo(), RTLD_DI_LINKMAP).
    detail::program_debugger->loaded(handle, loaded.file.size != 0 ? loaded.file : given);
  }
  return loaded.program;
}

ProgramLoader::Place ProgramLoader::place_of(const void* address) const {
  const std::uintptr_t base = base_of(address);
  if (base == 0) return {};
  const auto found = std::find_if(loaded_.begin(), loaded_.end(), [base](const auto& each) {
    return base_of(each.second->program.entry) == base;
  });
  return {found == loaded_.end() ? ConstByteSpan() : found->second->file,
          reinterpret_cast<std::uintptr_t>(address) - base};
}

}  // namespace npu::model
