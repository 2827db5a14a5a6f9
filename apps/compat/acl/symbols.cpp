// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/symbols.hpp"

#include <acl/acl_rt.h>

#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "apps/compat/acl/direct.hpp"

namespace npu::compat {
namespace {

struct Symbol {
  npusim_object* object;
  const char* name;
};

// Of the program; objects add theirs in front of main().
class Symbols {
 public:
  void add(const void* symbol, const Symbol& what) {
    const std::lock_guard<std::mutex> held(lock_);
    symbols_[symbol] = what;
  }
  void remove(const void* symbol) {
    const std::lock_guard<std::mutex> held(lock_);
    symbols_.erase(symbol);
  }
  std::optional<Symbol> find(const void* symbol) {
    const std::lock_guard<std::mutex> held(lock_);
    const auto found = symbols_.find(symbol);
    if (found == symbols_.end()) return std::nullopt;
    return found->second;
  }
  // Held while an object is loaded: only one thread does it.
  std::mutex& loading() { return loading_; }

 private:
  std::mutex lock_, loading_;
  std::map<const void*, Symbol> symbols_;
};

Symbols& symbols() {
  static auto* const kAll = new Symbols;  // objects of the program may end behind the library's
  return *kAll;
}

aclError load(npusim_object& object) {
  return aclrtBinaryLoadFromData(object.kernels, object.size, nullptr, &object.binary);
}

// `call` is made with the object's binary, and once more if that has gone: aclFinalize() takes it.
template <class Call>
aclError with_binary(npusim_object& object, const Call& call) {
  const std::lock_guard<std::mutex> held(symbols().loading());
  const aclError called =
      object.binary == nullptr ? ACL_ERROR_RT_INVALID_HANDLE : call(object.binary);
  if (called != ACL_ERROR_RT_INVALID_HANDLE) return called;
  const aclError loaded = load(object);
  return loaded == ACL_SUCCESS ? call(object.binary) : loaded;
}

struct Place {
  void* address = nullptr;
  size_t size = 0;
};

aclError place_of(const void* symbol, Place* place) {
  const auto found = symbols().find(symbol);
  if (!found) return ACL_ERROR_INVALID_PARAM;
  return with_binary(*found->object, [&](aclrtBinHandle binary) {
    return aclrtBinaryGetGlobal(binary, found->name, &place->address, &place->size);
  });
}

// Where `count` bytes are from `offset` on.
aclError part_of(const void* symbol, size_t count, size_t offset, void** address) {
  Place place;
  const aclError status = place_of(symbol, &place);
  if (status != ACL_SUCCESS) return status;
  if (offset > place.size || count > place.size - offset) return ACL_ERROR_INVALID_PARAM;
  *address = static_cast<char*>(place.address) + offset;
  return ACL_SUCCESS;
}

}  // namespace

aclrtFuncHandle function_of(const void* symbol) {
  aclrtFuncHandle function = nullptr;
  const auto found = symbols().find(symbol);
  if (found) npusimFindKernel(found->object, found->name, &function);
  return function;
}

}  // namespace npu::compat

using npu::compat::part_of;

extern "C" {

void npusimRegisterSymbol(npusim_object* object, const void* symbol, const char* name) {
  npu::compat::symbols().add(symbol, {object, name});
}

void npusimForgetSymbol(const void* symbol) {
  npu::compat::symbols().remove(symbol);
}

aclError npusimFindKernel(npusim_object* object, const char* name, aclrtFuncHandle* function) {
  if (object == nullptr || name == nullptr || function == nullptr) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::with_binary(*object, [&](aclrtBinHandle binary) {
    return aclrtBinaryGetFunction(binary, name, function);
  });
}

aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* function) {
  if (symbol == nullptr || function == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto found = npu::compat::symbols().find(symbol);
  if (!found) return ACL_ERROR_INVALID_PARAM;
  return npusimFindKernel(found->object, found->name, function);
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binary, const char* name, void** address,
                              size_t* size) {
  if (binary == nullptr || name == nullptr) return ACL_ERROR_INVALID_PARAM;
  const size_t bytes = std::strlen(name);
  auto* const channel = npu::compat::channel_of_this_thread();
  if (channel == nullptr || bytes > npu::compat::kWindow) return ACL_ERROR_INVALID_PARAM;
  std::memcpy(channel->window(), name, bytes);
  npu::compat::wire::Variable found;
  const aclError status = npu::compat::ask<npu::compat::Call::kBinaryGlobal>(
      {npu::compat::word(binary), bytes}, &found, bytes);
  if (status != ACL_SUCCESS) return status;
  if (address != nullptr) *address = npu::compat::pointer(found.address);
  if (size != nullptr) *size = found.size;
  return ACL_SUCCESS;
}

aclError aclrtGetSymbolAddress(const void* symbol, void** address) {
  if (symbol == nullptr || address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return part_of(symbol, 0, 0, address);
}

aclError aclrtGetSymbolSize(const void* symbol, size_t* size) {
  if (symbol == nullptr || size == nullptr) return ACL_ERROR_INVALID_PARAM;
  npu::compat::Place place;
  const aclError status = npu::compat::place_of(symbol, &place);
  if (status == ACL_SUCCESS) *size = place.size;
  return status;
}

aclError aclrtMemcpyToSymbol(const void* symbol, const void* source, size_t count, size_t offset,
                             aclrtMemcpyKind kind) {
  void* to = nullptr;
  const aclError status = part_of(symbol, count, offset, &to);
  return status != ACL_SUCCESS ? status : aclrtMemcpy(to, count, source, count, kind);
}

aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count,
                                  size_t offset, aclrtMemcpyKind kind, aclrtStream stream) {
  void* to = nullptr;
  const aclError status = part_of(symbol, count, offset, &to);
  return status != ACL_SUCCESS ? status : aclrtMemcpyAsync(to, count, source, count, kind, stream);
}

aclError aclrtMemcpyFromSymbol(void* to, size_t room, const void* symbol, size_t count,
                               size_t offset, aclrtMemcpyKind kind) {
  void* from = nullptr;
  const aclError status = part_of(symbol, count, offset, &from);
  return status != ACL_SUCCESS ? status : aclrtMemcpy(to, room, from, count, kind);
}

aclError aclrtMemcpyFromSymbolAsync(void* to, size_t room, const void* symbol, size_t count,
                                    size_t offset, aclrtMemcpyKind kind, aclrtStream stream) {
  void* from = nullptr;
  const aclError status = part_of(symbol, count, offset, &from);
  return status != ACL_SUCCESS ? status : aclrtMemcpyAsync(to, room, from, count, kind, stream);
}

}  // extern "C"
