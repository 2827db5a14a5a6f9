// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/kernel_files.hpp"

#include <fmt/format.h>

#include <cstring>

#include "npu/abi/kernel_file.hpp"
#include "npu/abi/queue_entry.hpp"
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
  return file.size >= sizeof abi::kKernelFileMagic &&
         std::memcmp(file.data, abi::kKernelFileMagic, sizeof abi::kKernelFileMagic) == 0;
}

namespace {

// Tables of a file, one behind the other.
class TableReader {
 public:
  TableReader(ConstByteSpan file, Bytes at) : file_(file), at_(at) {}

  template <class T>
  bool read(std::uint32_t count, std::vector<T>* table) {
    const Bytes size = Bytes{count} * sizeof(T);
    if (at_ > file_.size || size > file_.size - at_) return false;
    table->resize(count);
    if (count != 0) std::memcpy(table->data(), file_.data + at_, size);
    at_ += size;
    return true;
  }

 private:
  ConstByteSpan file_;
  Bytes at_;
};

bool is_inside(Bytes offset, Bytes size, Bytes whole) {
  return size <= whole && offset <= whole - size;
}

Result<FiledKernel> filed_kernel(ConstByteSpan file, const abi::KernelFileEntry& entry,
                                 const std::vector<abi::KernelFileParameter>& parameters) {
  const std::string name = shortened(entry.name);
  constexpr char kElf[] = {0x7F, 'E', 'L', 'F'};
  if (entry.size < sizeof kElf || !is_inside(entry.offset, entry.size, file.size) ||
      entry.cores > abi::KernelCores::kMixed || entry.prints > 1 || entry.reserved != 0 ||
      !is_inside(entry.layout, sizeof(abi::KernelLayout), entry.size) ||
      std::memcmp(file.data + entry.offset, kElf, sizeof kElf) != 0) {
    return torn("kernel " + name);
  }
  const auto image =
      driver::make_image(abi::ImageKind::kAiCore, {file.data + entry.offset, entry.size});
  if (!image) return forward_error(image);
  FiledKernel kernel{entry.name,   cores_of_kernel(entry.cores),
                     entry.offset, entry.size,
                     entry.layout, entry.prints != 0,
                     std::nullopt};
  if (entry.parameters == abi::kUnknownParameters) return kernel;
  if (entry.parameters > abi::kMostParameters ||
      !is_inside(entry.first_parameter, entry.parameters, parameters.size())) {
    return torn("parameters of kernel " + name);
  }
  const auto first = parameters.begin() + entry.first_parameter;
  kernel.parameters.emplace(first, first + entry.parameters);
  for (const auto& each : *kernel.parameters) {
    if (is_inside(each.offset, each.size, abi::kMaxArgumentBytes)) continue;
    return torn("parameters of kernel " + name);
  }
  return kernel;
}

}  // namespace

Status read_kernel_file(Binary& binary) {
  const ConstByteSpan file{binary.object.data(), binary.object.size()};
  if (file.size < sizeof(abi::KernelFileHeader)) return torn("no whole header");
  abi::KernelFileHeader header;
  std::memcpy(&header, file.data, sizeof header);
  if (header.version != abi::kKernelFileVersion) {
    return torn(fmt::format("version {}, not {}: it has to be compiled again", header.version,
                            abi::kKernelFileVersion));
  }
  std::vector<abi::KernelFileEntry> entries;
  std::vector<abi::KernelFileParameter> parameters;
  TableReader tables(file, sizeof header);
  if (header.kernels == 0 || header.kernels > abi::kMostKernels ||
      !tables.read(header.kernels, &entries)) {
    return torn(fmt::format("{} kernels", header.kernels));
  }
  auto& variables = binary.variables;
  if (header.variables > abi::kMostVariables || !tables.read(header.variables, &variables.table) ||
      !tables.read(header.parameters, &parameters) ||
      !is_inside(header.contents, header.content_size, file.size)) {
    return torn(fmt::format("{} variables", header.variables));
  }
  variables.offset = header.contents;
  variables.size = header.content_size;
  for (auto& each : variables.table) {
    each.name[sizeof each.name - 1] = '\0';
    if (!is_inside(each.offset, each.size, variables.size)) {
      return torn("variable " + shortened(each.name));
    }
  }
  for (auto& entry : entries) {
    entry.name[sizeof entry.name - 1] = '\0';
    auto kernel = filed_kernel(file, entry, parameters);
    if (!kernel) return forward_error(kernel);
    binary.kernels.push_back(std::move(*kernel));
  }
  return {};
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

std::string key_of(const Function& function) {
  const auto binary = function.binary->handle;
  return function.filed == nullptr ? fmt::format("{:#x}", binary)
                                   : fmt::format("{:#x} {}", binary, function.filed->name);
}

std::string variables_key(const Binary& binary) {
  return fmt::format("{:#x}, variables", binary.handle);
}

ConstByteSpan values_of(const Binary& binary) {
  return {binary.object.data() + binary.variables.offset, binary.variables.size};
}

}  // namespace npu::exec::acl
