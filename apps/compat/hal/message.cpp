// SPDX-License-Identifier: Apache-2.0
// Messages of buffers.
#include <new>
#include <set>
#include <vector>

#include "apps/compat/client/signals_held.hpp"
#include "apps/compat/hal/buffers.hpp"

// The public name of what the program holds.
struct Mbuf {
  // The block, which is freed with the last message of it.
  struct Data {
    void* block = nullptr;
    std::size_t size = 0;
    unsigned messages = 1;
  };
  Data* data = nullptr;
  std::uint64_t length = 0;
  unsigned char beside[256] = {};
  bool appended = false;
  std::vector<Mbuf*> chain;  // behind this one
};

namespace npu::compat {
namespace {

// Left alone at the process' end: threads may still be in calls.
struct Messages {
  std::mutex lock;
  std::set<const Mbuf*> known;

  bool has(const Mbuf* message) const { return known.count(message) != 0; }
};
Messages& messages() {
  static Messages* const kMessages = new Messages;
  return *kMessages;
}

// With the lock held. Null: there is no room for it.
Mbuf* make(Mbuf::Data* data, std::uint64_t length) {
  auto* const message = new (std::nothrow) Mbuf;
  if (message == nullptr) return nullptr;
  message->data = data;
  message->length = length;
  messages().known.insert(message);
  return message;
}

int make_first(void* block, std::uint64_t length, Mbuf** message) {
  auto* const data = new (std::nothrow) Mbuf::Data;
  if (data == nullptr) return DRV_ERROR_OUT_OF_MEMORY;
  data->block = block;
  data->size = Zones::all().size_of(block);
  const Locked held(messages().lock);
  *message = make(data, length);
  if (*message != nullptr) return DRV_ERROR_NONE;
  delete data;
  return DRV_ERROR_OUT_OF_MEMORY;
}

int allocate(std::uint64_t size, unsigned align, unsigned long flag, bool any_device,
             Mbuf** message) {
  void* block = nullptr;
  if (message == nullptr) return DRV_ERROR_INVALID_VALUE;
  if (const int failed = allocate_buffer(size, align, flag, any_device, &block); failed != 0) {
    return failed;
  }
  Zones::all().keep(block, true);
  const int failed = make_first(block, 0, message);
  if (failed == 0) return 0;
  Zones::all().keep(block, false);
  Zones::all().free(block);
  return failed;
}

// The message ends; null, or its data, that no message has any more.
Mbuf::Data* end(Mbuf* message) {
  auto* const data = message->data;
  messages().known.erase(message);
  delete message;
  return --data->messages == 0 ? data : nullptr;
}

void free_data(Mbuf::Data* data) {
  Zones::all().keep(data->block, false);
  Zones::all().free(data->block);
  delete data;
}

// Of one that there is, `read` with the lock held. INVALID_VALUE.
template <class Read>
int with(Mbuf* message, const void* to, Read read) {
  const Locked held(messages().lock);
  if (to == nullptr || !messages().has(message)) return DRV_ERROR_INVALID_VALUE;
  return read(*message);
}

}  // namespace
}  // namespace npu::compat

using npu::compat::Locked;
using npu::compat::messages;
using npu::compat::with;
using npu::compat::Zones;

extern "C" {

int halMbufAlloc(uint64_t size, Mbuf** message) {
  return npu::compat::allocate(size, 0, BUFF_SP_NORMAL, true, message);
}

int halMbufAllocEx(uint64_t size, unsigned int align, unsigned long flag, int group,
                   Mbuf** message) {
  static_cast<void>(group);
  return npu::compat::allocate(size, align, flag, false, message);
}

int halMbufFree(Mbuf* message) {
  std::vector<Mbuf::Data*> unused;
  {
    const Locked held(messages().lock);
    if (!messages().has(message) || message->appended) return DRV_ERROR_INVALID_VALUE;
    auto all = message->chain;
    all.push_back(message);
    for (auto* const each : all) {
      if (auto* const data = npu::compat::end(each)) unused.push_back(data);
    }
  }
  for (auto* const data : unused) npu::compat::free_data(data);
  return DRV_ERROR_NONE;
}

int halMbufCopyRef(Mbuf* message, Mbuf** copy) {
  return with(message, copy, [copy](const Mbuf& of) -> int {
    *copy = npu::compat::make(of.data, of.length);
    if (*copy == nullptr) return DRV_ERROR_OUT_OF_MEMORY;
    ++of.data->messages;
    return DRV_ERROR_NONE;
  });
}

int halMbufBuild(void* buffer, uint64_t length, Mbuf** message) {
  if (message == nullptr || length > Zones::all().size_of(buffer) ||
      !Zones::all().keep(buffer, true)) {
    return DRV_ERROR_INVALID_VALUE;
  }
  const int failed = npu::compat::make_first(buffer, length, message);
  if (failed != 0) Zones::all().keep(buffer, false);
  return failed;
}

int halMbufUnBuild(Mbuf* message, void** buffer, uint64_t* length) {
  if (length == nullptr) return DRV_ERROR_INVALID_VALUE;
  return with(message, buffer, [=](Mbuf& of) -> int {
    if (of.data->messages != 1 || of.appended || !of.chain.empty()) return DRV_ERROR_INVALID_VALUE;
    *buffer = of.data->block;
    *length = of.length;
    auto* const data = npu::compat::end(&of);
    Zones::all().keep(data->block, false);
    delete data;
    return DRV_ERROR_NONE;
  });
}

int halMbufGetBuffAddr(Mbuf* message, void** buffer) {
  return with(message, buffer, [buffer](const Mbuf& of) -> int {
    *buffer = of.data->block;
    return DRV_ERROR_NONE;
  });
}

int halMbufGetBuffSize(Mbuf* message, uint64_t* size) {
  return with(message, size, [size](const Mbuf& of) -> int {
    *size = of.data->size;
    return DRV_ERROR_NONE;
  });
}

int halMbufSetDataLen(Mbuf* message, uint64_t length) {
  return with(message, message, [length](Mbuf& of) -> int {
    if (length > of.data->size) return DRV_ERROR_INVALID_VALUE;
    of.length = length;
    return DRV_ERROR_NONE;
  });
}

int halMbufGetDataLen(Mbuf* message, uint64_t* length) {
  return with(message, length, [length](const Mbuf& of) -> int {
    *length = of.length;
    return DRV_ERROR_NONE;
  });
}

int halMbufGetPrivInfo(Mbuf* message, void** bytes, unsigned int* size) {
  if (size == nullptr) return DRV_ERROR_INVALID_VALUE;
  return with(message, bytes, [=](Mbuf& of) -> int {
    *bytes = of.beside;
    *size = sizeof of.beside;
    return DRV_ERROR_NONE;
  });
}

int halMbufChainAppend(Mbuf* head, Mbuf* message) {
  return with(head, message, [=](Mbuf& to) -> int {
    if (!messages().has(message) || message == head || message->appended ||
        !message->chain.empty() || to.appended) {
      return DRV_ERROR_INVALID_VALUE;
    }
    to.chain.push_back(message);
    message->appended = true;
    return DRV_ERROR_NONE;
  });
}

int halMbufChainGetMbufNum(Mbuf* head, unsigned int* count) {
  return with(head, count, [count](const Mbuf& of) -> int {
    *count = static_cast<unsigned>(of.chain.size()) + 1;
    return DRV_ERROR_NONE;
  });
}

int halMbufChainGetMbuf(Mbuf* head, unsigned int index, Mbuf** message) {
  return with(head, message, [=](Mbuf& of) -> int {
    if (index > of.chain.size()) return DRV_ERROR_INVALID_VALUE;
    *message = index == 0 ? &of : of.chain[index - 1];
    return DRV_ERROR_NONE;
  });
}

}  // extern "C"
