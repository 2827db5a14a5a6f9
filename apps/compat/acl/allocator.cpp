// SPDX-License-Identifier: Apache-2.0
// Allocators of the program's own, by stream.
#include <acl/acl_rt.h>

#include <new>

#include "apps/compat/acl/kept.hpp"

namespace {

struct Allocator {
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc release = nullptr;
  aclrtAllocatorAllocAdviseFunc advise = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address_of = nullptr;
};
struct OfStream {
  aclrtAllocatorDesc description = nullptr;
  Allocator allocator;
};

auto& allocators() {
  static auto* const kAll = new npu::compat::Kept<aclrtStream, OfStream>;
  return *kAll;
}

template <class T>
aclError set(aclrtAllocatorDesc description, T Allocator::*member, T value) {
  if (description == nullptr || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  static_cast<Allocator*>(description)->*member = value;
  return ACL_SUCCESS;
}

template <class T>
void give(T* to, T value) {
  if (to != nullptr) *to = value;
}

}  // namespace

extern "C" {

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) {
  return new (std::nothrow) Allocator;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc description) {
  if (description == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete static_cast<Allocator*>(description);
  return ACL_SUCCESS;
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc description, aclrtAllocator allocator) {
  return set(description, &Allocator::object, allocator);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc description,
                                          aclrtAllocatorAllocFunc call) {
  return set(description, &Allocator::allocate, call);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc description,
                                         aclrtAllocatorFreeFunc call) {
  return set(description, &Allocator::release, call);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc description,
                                                aclrtAllocatorAllocAdviseFunc call) {
  return set(description, &Allocator::advise, call);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc description,
                                                     aclrtAllocatorGetAddrFromBlockFunc call) {
  return set(description, &Allocator::address_of, call);
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc description) {
  const auto* const given = static_cast<const Allocator*>(description);
  if (stream == nullptr || given == nullptr || given->allocate == nullptr ||
      given->release == nullptr || given->address_of == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  allocators().set(stream, {description, *given});
  return ACL_SUCCESS;
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* description,
                                   aclrtAllocator* allocator, aclrtAllocatorAllocFunc* allocate,
                                   aclrtAllocatorFreeFunc* release,
                                   aclrtAllocatorAllocAdviseFunc* advise,
                                   aclrtAllocatorGetAddrFromBlockFunc* address_of) {
  OfStream found;
  if (stream == nullptr || !allocators().get(stream, &found)) return ACL_ERROR_INVALID_PARAM;
  give(description, found.description);
  give(allocator, found.allocator.object);
  give(allocate, found.allocator.allocate);
  give(release, found.allocator.release);
  give(advise, found.allocator.advise);
  give(address_of, found.allocator.address_of);
  return ACL_SUCCESS;
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return stream != nullptr && allocators().drop(stream) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

}  // extern "C"
