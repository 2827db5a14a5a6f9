// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/kernel_files.hpp"

#include <fmt/format.h>

#include <cstring>

#include "npu/abi/kernel_file.hpp"
#include "npu/base/shortened.hpp"
#include "npu/driver/program.hpp"

namespace npu::exec::acl {
namespace {

Cores cores_of_kernel(abi::KernelCores cores) {
  switch (cores) {
    case abi::KernelCores::kCube:
      return Cores::kCube;
    case abi::KernelCores::kMixed:
      return Cores::kMixed;
    default:
      return Cores::kVector;
  }
}

tl::unexpected<Error> torn(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "it is no whole file of kernels: " + what);
}

}  // namespace

bool is_kernel_file(ConstByteSpan file) {
  return file.size >= sizeof(abi::KernelFileHeader) &&
         std::memcmp(file.data, abi::kKernelFileMagic, sizeof abi::kKernelFileMagic) == 0;
}

Result<std::vector<FiledKernel>> kernels_in(ConstByteSpan file) {
  abi::KernelFileHeader header;
  std::memcpy(&header, file.data, sizeof header);
  if (header.version != 1) return torn(fmt::format("version {}", header.version));
  const Bytes entries = Bytes{header.kernels} * sizeof(abi::KernelFileEntry);
  if (header.kernels == 0 || header.kernels > abi::kMostKernels ||
      entries > file.size - sizeof header) {
    return torn(fmt::format("{} kernels", header.kernels));
  }
  std::vector<FiledKernel> kernels;
  for (std::uint32_t i = 0; i < header.kernels; ++i) {
    abi::KernelFileEntry entry;
    std::memcpy(&entry, file.data + sizeof header + i * sizeof entry, sizeof entry);
    entry.name[sizeof entry.name - 1] = '\0';
    const std::string name = shortened(entry.name);
    constexpr char kElf[] = {0x7F, 'E', 'L', 'F'};
    if (entry.size < sizeof kElf || entry.size > file.size ||
        entry.offset > file.size - entry.size || entry.cores > abi::KernelCores::kMixed ||
        std::memcmp(file.data + entry.offset, kElf, sizeof kElf) != 0) {
      return torn("kernel " + name);
    }
    const auto image =
        driver::make_image(abi::ImageKind::kAiCore, {file.data + entry.offset, entry.size});
    if (!image) return forward_error(image);
    kernels.push_back({entry.name, cores_of_kernel(entry.cores), entry.offset, entry.size});
  }
  return kernels;
}

const FiledKernel* find_kernel(const std::vector<FiledKernel>& kernels, const std::string& name) {
  for (const auto& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

std::string names_of(const Binary& binary) {
  if (binary.kernels.empty()) return binary.name;
  std::string names;
  for (const auto& kernel : binary.kernels) names += (names.empty() ? "" : ", ") + kernel.name;
  return names;
}

ConstByteSpan object_of(const Function& function) {
  const auto& file = function.binary->object;
  if (function.filed == nullptr) return {file.data(), file.size()};
  return {file.data() + function.filed->offset, function.filed->size};
}

std::string key_of(std::uint64_t binary, const Function& function) {
  return function.filed == nullptr ? fmt::format("{:#x}", binary)
                                   : fmt::format("{:#x} {}", binary, function.filed->name);
}

}  // namespace npu::exec::acl
