// SPDX-License-Identifier: Apache-2.0
// The file of kernels.
#include <algorithm>
#include <cstring>

#include "kernels/ascendc/compile.hpp"
#include "kernels/ascendc/object.hpp"
#include "npu/base/checked.hpp"

namespace npu::ascendc {
namespace {

constexpr Bytes kAlignment = 16;

class FileWriter {
 public:
  Bytes append(const void* data, Bytes size) {
    const Bytes at = *checked_align_up(bytes_.size(), kAlignment);
    bytes_.resize(at);
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
    return at;
  }
  template <class T>
  void append_table(const std::vector<T>& table) {
    const auto* const first = reinterpret_cast<const std::byte*>(table.data());
    bytes_.insert(bytes_.end(), first, first + table.size() * sizeof(T));
  }
  template <class T>
  void put(Bytes at, const T& value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

bool are_same(const ObjectContents& a, const ObjectContents& b) {
  const auto same = [](const abi::KernelFileVariable& one, const abi::KernelFileVariable& other) {
    return one.offset == other.offset && one.size == other.size &&
           std::strcmp(one.name, other.name) == 0;
  };
  return a.values.size() == b.values.size() &&
         std::equal(a.variables.begin(), a.variables.end(), b.variables.begin(), b.variables.end(),
                    same);
}

}  // namespace

Result<std::vector<std::byte>> kernel_file(const std::vector<CompiledKernel>& kernels) {
  std::vector<ObjectContents> contents;
  for (const auto& kernel : kernels) {
    auto found = contents_of({kernel.object.data(), kernel.object.size()});
    if (!found) return forward_error(found);
    contents.push_back(std::move(*found));
    if (are_same(contents.front(), contents.back())) continue;
    return fail(ErrorCode::kWrongData, "variables lie otherwise in kernel " + kernel.name);
  }
  const ObjectContents none;
  const auto& shared = contents.empty() ? none : contents.front();
  std::vector<abi::KernelFileEntry> entries(kernels.size());
  std::vector<abi::KernelFileParameter> parameters;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& kernel = kernels[i];
    const auto& own = contents[i];
    auto& entry = entries[i];
    kernel.name.copy(entry.name, sizeof entry.name - 1);
    entry.cores = kernel.cores;
    entry.size = kernel.object.size();
    entry.layout = own.layout;
    entry.prints = own.prints ? 1 : 0;
    entry.first_parameter = static_cast<std::uint32_t>(parameters.size());
    entry.parameters = own.parameters_known ? static_cast<std::uint32_t>(own.parameters.size())
                                            : abi::kUnknownParameters;
    parameters.insert(parameters.end(), own.parameters.begin(), own.parameters.end());
  }
  abi::KernelFileHeader header;
  std::memcpy(header.magic, abi::kKernelFileMagic, sizeof header.magic);
  header.kernels = static_cast<std::uint32_t>(kernels.size());
  header.variables = static_cast<std::uint32_t>(shared.variables.size());
  header.parameters = static_cast<std::uint32_t>(parameters.size());
  FileWriter file;
  file.append(&header, sizeof header);
  file.append_table(entries);
  file.append_table(shared.variables);
  file.append_table(parameters);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    entries[i].offset = file.append(kernels[i].object.data(), kernels[i].object.size());
    file.put(sizeof header + i * sizeof entries[i], entries[i]);
  }
  header.contents = file.append(shared.values.data(), shared.values.size());
  header.content_size = shared.values.size();
  file.put(0, header);
  return file.take();
}

}  // namespace npu::ascendc
