// SPDX-License-Identifier: Apache-2.0
#include "model/core/program_loader.hpp"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace npu::model {
namespace {

std::array<std::uint8_t, 32> sha256(const void* data, Bytes size) {
  std::array<std::uint8_t, 32> digest{};
  unsigned length = 0;
  if (EVP_Digest(data, size, digest.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  return digest;
}

// An open file without a name that holds the bytes; -1: none could be made.
int file_of(const void* data, Bytes size) {
  const int file = memfd_create("npu-program", MFD_CLOEXEC);
  if (file < 0) return -1;
  const auto* const bytes = static_cast<const char*>(data);
  for (Bytes done = 0; done < size;) {
    const ssize_t written = write(file, bytes + done, size - done);
    if (written <= 0) {
      close(file);
      return -1;
    }
    done += static_cast<Bytes>(written);
  }
  return file;
}

// The dynamic linker takes a path that it has seen before for the library it found there then, even
// if the descriptor has been closed: no path is used twice. It does not shorten them.
std::string path_of(int file) {
  static std::uint32_t loads = 0;
  std::string path = "/proc/self/fd";
  for (std::uint32_t bits = ++loads; bits != 0; bits >>= 1) path += (bits & 1) != 0 ? "/." : "//.";
  return path + "/" + std::to_string(file);
}

}  // namespace

struct ProgramLoader::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* handle;
  void* entry = nullptr;
  bool known = true;  // to the card
};

ProgramLoader::ProgramLoader(abi::ImageKind kind, const char* entry) : kind_(kind), entry_(entry) {}

ProgramLoader::~ProgramLoader() = default;

bool ProgramLoader::accepts(const abi::ImageHeader& header) const {
  return header.magic == abi::kImageMagic && header.version == abi::kImageVersion &&
         header.kind == static_cast<std::uint16_t>(kind_) && header.size != 0 &&
         header.size <= abi::kMaxImageSize;
}

void* ProgramLoader::find(const abi::ImageHeader& header) const {
  const auto found = loaded_.find(header.digest);
  return found == loaded_.end() || !found->second->known ? nullptr : found->second->entry;
}

void ProgramLoader::forget() {
  for (auto& each : loaded_) each.second->known = false;
}

void* ProgramLoader::load(const abi::ImageHeader& header, const void* object) {
  if (auto* const entry = find(header)) return entry;
  if (!accepts(header) || sha256(object, header.size) != header.digest) return nullptr;
  if (const auto found = loaded_.find(header.digest); found != loaded_.end()) {
    found->second->known = true;
    return found->second->entry;
  }
  const int file = file_of(object, header.size);
  if (file < 0) return nullptr;
  const std::string path = path_of(file);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (handle == nullptr) return nullptr;
  auto library = std::make_unique<Library>(handle);
  library->entry = dlsym(handle, entry_);
  if (library->entry == nullptr) return nullptr;
  return (loaded_[header.digest] = std::move(library))->entry;
}

}  // namespace npu::model
