// SPDX-License-Identifier: Apache-2.0
#include "kernels/ascendc/object.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/ascendc/source.hpp"

namespace npu::ascendc {
namespace {

constexpr const char* kPrintSection = ".npusim_prints";  // include/npu/ascendc/print.hpp

// A 64-bit ELF object, of which nothing outside is read.
class Object {
 public:
  explicit Object(ConstByteSpan bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    for (unsigned i = 0; i < header->e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section) return;
      sections_.push_back(*section);
    }
    if (header->e_shstrndx < sections_.size()) names_ = sections_[header->e_shstrndx];
  }

  template <class T>
  std::optional<T> at(Bytes offset) const {
    if (sizeof(T) > bytes_.size || offset > bytes_.size - sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data + offset, sizeof value);
    return value;
  }
  std::string text(const Elf64_Shdr& table, Bytes offset) const {
    const Bytes begin = table.sh_offset + offset;
    if (begin >= bytes_.size) return {};
    const auto* const first = reinterpret_cast<const char*>(bytes_.data + begin);
    return {first, strnlen(first, bytes_.size - begin)};
  }
  std::optional<Elf64_Shdr> section(const std::string& name) const {
    for (const auto& each : sections_) {
      if (text(names_, each.sh_name) == name) return each;
    }
    return std::nullopt;
  }

  // All symbols with a place, by name.
  template <class Visit>
  void for_symbols(Visit visit) const {
    for (const auto& table : sections_) {
      if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
      for (Bytes i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
        const auto symbol = at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
        if (!symbol || symbol->st_shndx >= sections_.size()) continue;
        visit(text(sections_[table.sh_link], symbol->st_name), *symbol,
              sections_[symbol->st_shndx]);
      }
    }
  }

 private:
  ConstByteSpan bytes_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_ = {};
};

}  // namespace

Result<ObjectContents> contents_of(ConstByteSpan object) {
  const Object elf(object);
  ObjectContents found;
  const std::string prefix = kVariablePrefix;
  elf.for_symbols([&](const std::string& name, const Elf64_Sym& symbol, const Elf64_Shdr& section) {
    const Bytes inside = symbol.st_value - section.sh_addr;
    if (name == kLayoutSymbol) found.layout = section.sh_offset + inside;
    if (name.rfind(prefix, 0) != 0) return;
    abi::KernelFileVariable variable;
    name.copy(variable.name, sizeof variable.name - 1, prefix.size());
    variable.offset = inside;
    variable.size = symbol.st_size;
    found.variables.push_back(variable);
  });
  std::sort(found.variables.begin(), found.variables.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  const auto layout = elf.at<abi::KernelLayout>(found.layout);
  if (found.layout == 0 || !layout)
    return fail(ErrorCode::kWrongData, "an object without a layout");
  found.parameters_known = layout->parameters <= abi::kMostParameters;
  if (found.parameters_known) {
    found.parameters.assign(layout->parameter, layout->parameter + layout->parameters);
  }
  found.prints = elf.section(kPrintSection).has_value();
  const auto section = elf.section(kVariableSection);
  if (!section) return found;
  if (section->sh_offset > object.size || section->sh_size > object.size - section->sh_offset) {
    return fail(ErrorCode::kWrongData, "an object that is torn");
  }
  const auto* const first = object.data + section->sh_offset;
  found.values.assign(first, first + section->sh_size);
  return found;
}

}  // namespace npu::ascendc
