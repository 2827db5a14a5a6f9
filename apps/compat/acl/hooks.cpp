// SPDX-License-Identifier: Apache-2.0
// Functions of the API that are replaced by others: every loaded object has a table of the
// addresses that its calls go to (ELF: relocations JUMP_SLOT and GLOB_DAT, by symbol), and these
// are written anew.
#include <acl/acl_rt_hook.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace npu::compat {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kCall = R_X86_64_JUMP_SLOT, kPlace = R_X86_64_GLOB_DAT, kWord = R_X86_64_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kCall = R_AARCH64_JUMP_SLOT, kPlace = R_AARCH64_GLOB_DAT,
                        kWord = R_AARCH64_ABS64;
#else
#error "which relocations name functions?"
#endif

// By name; the callers' threads see to the order of calls.
std::map<std::string, aclrtApiFunc>& replaced() {
  static auto* const kReplaced = new std::map<std::string, aclrtApiFunc>;
  return *kReplaced;
}

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

// Null: it is no function that may be replaced.
aclrtApiFunc original_of(const char* name) {
  if (name == nullptr || begins_with(name, "aclrtApiInjection")) return nullptr;
  if (!begins_with(name, "aclrt") && !begins_with(name, "aclmdlRI")) return nullptr;
  return reinterpret_cast<aclrtApiFunc>(::dlsym(RTLD_DEFAULT, name));
}

// The tables of one loaded object.
struct Object {
  explicit Object(const dl_phdr_info& info) : base(info.dlpi_addr) {
    const ElfW(Dyn)* dynamic = nullptr;
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
      const auto& header = info.dlpi_phdr[i];
      if (header.p_type == PT_DYNAMIC) {
        dynamic = reinterpret_cast<const ElfW(Dyn)*>(base + header.p_vaddr);
      } else if (header.p_type == PT_GNU_RELRO) {
        fixed_begin = base + header.p_vaddr;
        fixed_end = fixed_begin + header.p_memsz;
      }
    }
    for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) take(*dynamic);
  }

  // Calls visit(address of the entry) for the entries of the symbol.
  template <class Visit>
  void for_each_entry(const char* symbol, const Visit& visit) const {
    if (symbols_ == nullptr || names_ == nullptr) return;
    for (const auto& table : tables_) {
      const auto count = table.bytes / sizeof(ElfW(Rela));
      for (std::size_t i = 0; i < count; ++i) {
        const auto& entry = table.first[i];
        const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
        if (type != kCall && type != kPlace && (type != kWord || entry.r_addend != 0)) continue;
        const auto& named = symbols_[ELF64_R_SYM(entry.r_info)];
        if (std::strcmp(names_ + named.st_name, symbol) == 0) visit(base + entry.r_offset);
      }
    }
  }
  // The dynamic linker has made it read-only.
  bool fixed(std::uintptr_t entry) const { return entry >= fixed_begin && entry < fixed_end; }

  std::uintptr_t base, fixed_begin = 0, fixed_end = 0;

 private:
  struct Table {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  };

  void take(const ElfW(Dyn) & entry) {
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(place(entry));
        break;
      case DT_STRTAB:
        names_ = reinterpret_cast<const char*>(place(entry));
        break;
      case DT_JMPREL:
        tables_[0].first = reinterpret_cast<const ElfW(Rela)*>(place(entry));
        break;
      case DT_PLTRELSZ:
        tables_[0].bytes = entry.d_un.d_val;
        break;
      case DT_RELA:
        tables_[1].first = reinterpret_cast<const ElfW(Rela)*>(place(entry));
        break;
      case DT_RELASZ:
        tables_[1].bytes = entry.d_un.d_val;
        break;
      default:
        break;
    }
  }
  // The dynamic linker has added the base, but not for all objects.
  std::uintptr_t place(const ElfW(Dyn) & entry) const {
    return entry.d_un.d_ptr < base ? base + entry.d_un.d_ptr : entry.d_un.d_ptr;
  }

  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  Table tables_[2];
};

bool write_entry(std::uintptr_t entry, aclrtApiFunc function, bool fixed) {
  const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(entry & ~(size - 1));
  if (fixed && ::mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(reinterpret_cast<aclrtApiFunc*>(entry), function, __ATOMIC_RELEASE);
  return !fixed || ::mprotect(page, size, PROT_READ) == 0;
}

struct Replacing {
  const char* name;
  aclrtApiFunc function;
  std::uintptr_t own;  // the base of this library, whose calls stay
  bool done = true;
};

int replace_in(dl_phdr_info* info, std::size_t, void* data) {
  auto& replacing = *static_cast<Replacing*>(data);
  if (info->dlpi_addr == replacing.own) return 0;
  const Object object(*info);
  object.for_each_entry(replacing.name, [&](std::uintptr_t entry) {
    replacing.done &= write_entry(entry, replacing.function, object.fixed(entry));
  });
  return 0;
}

bool replace(const char* name, aclrtApiFunc function) {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&replaced), &own) == 0) return false;
  Replacing replacing{name, function, reinterpret_cast<std::uintptr_t>(own.dli_fbase)};
  ::dl_iterate_phdr(&replace_in, &replacing);
  return replacing.done;
}

}  // namespace
}  // namespace npu::compat

extern "C" {

aclError aclrtApiInjectionSetFunc(const char* name, aclrtApiFunc function) {
  const auto original = npu::compat::original_of(name);
  if (original == nullptr || function == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!npu::compat::replace(name, function)) return ACL_ERROR_INTERNAL_ERROR;
  if (function == original) {
    npu::compat::replaced().erase(name);
  } else {
    npu::compat::replaced()[name] = function;
  }
  return ACL_SUCCESS;
}

aclError aclrtApiInjectionGetFunc(const char* name, aclrtApiFunc* original, aclrtApiFunc* current) {
  const auto own = npu::compat::original_of(name);
  if (own == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto known = npu::compat::replaced().find(name);
  if (original != nullptr) *original = own;
  if (current != nullptr) *current = known == npu::compat::replaced().end() ? own : known->second;
  return ACL_SUCCESS;
}

}  // extern "C"
